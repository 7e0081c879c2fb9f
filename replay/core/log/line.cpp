#include "core/log/line.h"

#include <chrono>
#include <exception>

namespace flor::core {

LateValue value_of(const Later& later) {
  try {
    return later.get();
  } catch (const std::exception& problem) {
    return {"null", problem.what()};
  }
}

void Lines::add(Line line) {
  bytes_ += line.head.size() + line.tail.size() + 1;
  if (line.value.valid()) {
    waiting_.push_back(std::move(line));
    return;
  }
  if (waiting_.empty()) {
    ready_ += line.head;
    ready_ += '\n';
  } else {
    waiting_.back().tail += '\n';
    waiting_.back().tail += line.head;
  }
}

std::string Lines::take(std::vector<std::string>& errors) {
  while (!waiting_.empty() &&
         waiting_.front().value.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
    const Line& line = waiting_.front();
    LateValue value = value_of(line.value);
    if (!value.error.empty()) errors.push_back(std::move(value.error));
    ready_ += line.head;
    ready_ += value.text;
    ready_ += line.tail;
    ready_ += '\n';
    waiting_.pop_front();
  }
  bytes_ = 0;
  for (const Line& line : waiting_) bytes_ += line.head.size() + line.tail.size() + 1;
  return std::exchange(ready_, {});
}

std::string Lines::take_all(std::vector<std::string>& errors) {
  for (const Line& line : waiting_) line.value.wait();
  return take(errors);
}

std::vector<Later> Lines::awaited() const {
  std::vector<Later> out;
  for (const Line& line : waiting_) out.push_back(line.value);
  return out;
}

}  // namespace flor::core
