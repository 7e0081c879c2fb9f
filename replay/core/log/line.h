// Lines of a log whose value may still be being computed: such a line takes its place at once, and what
// follows waits behind it.
#pragma once

#include <cstddef>
#include <deque>
#include <future>
#include <string>
#include <utility>
#include <vector>

namespace flor::core {

// What a computation in the background gives: the JSON text of a value.
struct LateValue {
  std::string text;
  std::string error;  // a write that failed on the way; the text then says so, too
};
using Later = std::shared_future<LateValue>;

// The value; waits for it. Never throws: a computation that was given up yields null and the error.
LateValue value_of(const Later& later);

// HEAD, the value if there is one, TAIL; without its newline.
struct Line {
  Line(std::string text) : head(std::move(text)) {}
  Line(const char* text) : head(text) {}
  Line(std::string head, Later value, std::string tail)
      : head(std::move(head)), value(std::move(value)), tail(std::move(tail)) {}

  std::string head;
  Later value;  // valid() where the line has one
  std::string tail;
};

// Lines in order. Not thread-safe.
class Lines {
 public:
  void add(Line line);

  // The lines at the front that are complete, each with its newline; they are taken out. What failed on the
  // way is added to `errors`.
  std::string take(std::vector<std::string>& errors);
  // Waits for the values, then takes all.
  std::string take_all(std::vector<std::string>& errors);

  bool empty() const { return ready_.empty() && waiting_.empty(); }
  std::size_t bytes() const { return bytes_; }  // of what was added and not taken, as far as it is known
  std::vector<Later> awaited() const;           // the values that are missing

 private:
  std::string ready_;
  std::deque<Line> waiting_;  // each has a value; lines without one stand in the tail of that before them
  std::size_t bytes_ = 0;
};

}  // namespace flor::core
