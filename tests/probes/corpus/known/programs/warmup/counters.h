// Counters of all kinds.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

// While it lives, a step is under way; its end counts it.
class StepTimer {
 public:
  explicit StepTimer(int64_t& steps) : steps_(steps) {}
  ~StepTimer() { ++steps_; }
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;

 private:
  int64_t& steps_;
};

// The mean of whatever is put in.
template <class T>
class Mean {
 public:
  Mean& operator+=(const T& value) {
    total_ += value;
    ++count_;
    return *this;
  }
  T get() const { return count_ ? total_ / static_cast<T>(count_) : T{}; }
  int64_t count() const { return count_; }

 private:
  T total_{};
  int64_t count_ = 0;
};

struct Progress {
  int64_t lines = 0;
};
inline std::ostream& operator<<(std::ostream& out, Progress& progress) {
  return out << "[" << ++progress.lines << "] ";
}

template <class T>
void tally(std::vector<T>& counts, size_t index, T amount) {
  if (index >= counts.size()) counts.resize(index + 1);
  counts[index] += amount;
}

class Budget {
 public:
  explicit Budget(const double& spent) : spent_(spent) {}
  double left(double all) const { return all - spent_; }
  void note(double amount) const { noted_ += amount; }
  double noted() const { return noted_; }

 private:
  const double& spent_;
  mutable double noted_ = 0;
};
