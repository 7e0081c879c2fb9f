// Turns logged rows into events of TensorBoard: numbers into scalars, summaries into scalars and a histogram,
// images into images. Texts, nulls, nested arrays and tensors in files become none: TensorBoard cannot show
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "core/base/json.h"
#include "core/events/event_records.h"
#include "core/store/scope_path.h"

namespace flor::core {

// Gives each row its step in TensorBoard. A row in one loop: the loop's value. In two loops: (outer value -
// the first one) * N + inner value, where N is the largest inner value known so far, plus one. All other
// rows: a count for each name. Not thread-safe.
class EventSteps {
 public:
  // Learns from the loops of a row. Call it with all rows that are known before step_of().
  void learn(const ScopeLoops& loops);
  int64_t step_of(const ScopeLoops& loops, const std::string& name);

 private:
  struct Pair {
    int64_t first = 0, length = 1;
  };
  std::map<std::string, Pair> pairs_;  // of loops, by the names of both
  std::map<std::string, int64_t> counts_;
};

struct EventCounts {
  std::size_t scalars = 0, histograms = 0, images = 0;
  // Rows that became no event.
  std::size_t left_out = 0;
};

// Not thread-safe.
class RowEvents {
 public:
  // `directory`: that of the run or the log, from which rows name the files of their images. An image that
  // png_of() does not give is left out.
  explicit RowEvents(std::filesystem::path directory) : directory_(std::move(directory)) {}

  // Appends the records of a row's events.
  void add(std::string& records, const std::string& name, const Json& value, const Place& place);
  const EventCounts& counts() const { return counts_; }

 private:
  void add_tensor(std::string& records, const std::string& name, const Json& value, const Place& place);
  bool add_image(std::string& records, const std::string& name, const Json& value, const Place& place) const;

  const std::filesystem::path directory_;
  EventCounts counts_;
};

}  // namespace flor::core
