// Lines of a log, for writers of rows. A line whose value is still being computed takes its place at once;
// later lines wait for it.
#pragma once

#include <cstddef>
#include <deque>
#include <future>
#include <string>
#include <utility>
#include <vector>

namespace flor::core {

// The result of a computation in the background: the JSON text of a value.
struct LateValue {
  std::string text;
  // Why a write failed; empty if none failed. After a failure the text says so, too.
  std::string error;
};
using Later = std::shared_future<LateValue>;

// Waits for the value and returns it. Never throws: an abandoned computation yields null and an error.
LateValue value_of(const Later& later);

// A line without its newline: head, the value if there is one, tail.
struct Line {
  Line(std::string text) : head(std::move(text)) {}
  Line(const char* text) : head(text) {}
  Line(std::string head, Later value, std::string tail)
      : head(std::move(head)), value(std::move(value)), tail(std::move(tail)) {}

  std::string head;
  // valid() if the line has a value.
  Later value;
  std::string tail;
};

// Keeps lines in order. Not thread-safe.
class Lines {
 public:
  void add(Line line);

  // Removes and returns the complete lines at the front, each with its newline. Adds errors of their values
  // to `errors`.
  std::string take(std::vector<std::string>& errors);
  // Waits for the values, then takes all lines.
  std::string take_all(std::vector<std::string>& errors);

  bool empty() const { return ready_.empty() && waiting_.empty(); }
  // The bytes that were added and not taken, without the values that are missing.
  std::size_t bytes() const { return bytes_; }
  // Returns the missing values.
  std::vector<Later> awaited() const;

 private:
  std::string ready_;
  // Each has a value. A line without one is appended to the tail of the line before.
  std::deque<Line> waiting_;
  std::size_t bytes_ = 0;
};

}  // namespace flor::core
