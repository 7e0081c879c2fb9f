// flor::Logger: writes rows to a file of its own, and prints nothing. It knows nothing of recording and
// replay: a replay appends the rows once more, unless the program asks flor::replaying().
//
//   flor::Logger logger("logs/baseline");
//   for (int64_t epoch = 0; epoch < epochs; ++epoch) {
//     auto here = logger.at({{"epoch", epoch}});
//     here.log("loss", loss.item<double>());
//     here.log("weights", net->weight, flor::histogram(64));
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "flor/log.h"

namespace flor {

// Writes log.jsonl in a directory, and beside it the tensors and images that rows name. `where` may also be a
// file that ends in ".jsonl". Appends to a file that exists. One logger at a time may write a file, in all
// processes: another one warns, and drops its rows. Thread-safe. Writes nothing in a forked child. Does not
// throw for a file that cannot be written: warns once, drops rows, and the program goes on. Throws for a
// tensor that cannot be read, as flor::log does.
class FLOR_API Logger {
 public:
  // Name and value of each column of a row, the outermost loop's first.
  using Columns = std::vector<std::pair<std::string, int64_t>>;

  class Scope;

  explicit Logger(const std::string& where);
  // Returns when all rows are in the file.
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  // Returns a scope: rows logged through it get these columns. It must not outlive the logger.
  Scope at(Columns columns);

  // Logs a row without columns. `value`: as flor::log, without is_volatile.
  template <class... T>
  void log(const std::string& name, const T&... value);

  // Waits until all rows logged so far are durable. Returns false if some could not be written, and in a
  // forked child.
  bool sync();

 private:
  void text(const Columns& columns, const std::string& name, std::string text);
  void observed(const Columns& columns, const std::string& name, const at::Tensor& value, Observation how);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Logs rows with the columns that Logger::at() was given. Thread-safe. Must not outlive the logger.
class Logger::Scope {
 public:
  // `value`: as flor::log, without is_volatile.
  template <class T>
  void log(const std::string& name, const T& value) const {
    logger_->text(columns_, name, detail::text_of(value));
  }
  void log(const std::string& name, const at::Tensor& value, Observation how) const {
    logger_->observed(columns_, name, value, how);
  }

 private:
  friend class Logger;
  Scope(Logger& logger, Columns columns) : logger_(&logger), columns_(std::move(columns)) {}
  Logger* logger_;
  Columns columns_;
};

inline Logger::Scope Logger::at(Columns columns) {
  return {*this, std::move(columns)};
}

template <class... T>
void Logger::log(const std::string& name, const T&... value) {
  at({}).log(name, value...);
}

}  // namespace flor
