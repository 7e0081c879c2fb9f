#pragma once

#include <chrono>

class Stopwatch {
 public:
  using Clock = std::chrono::steady_clock;
  void start() { began_ = Clock::now(); }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

 private:
  Clock::time_point began_ = Clock::now();
};
