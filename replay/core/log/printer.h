// Rows on stdout, in program order, although the values of some are computed in the background.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <mutex>

#include "core/log/line.h"

namespace flor::core {

// Thread-safe. In a forked child a line is printed at once: what waited is the parent's to print.
class Printer {
 public:
  Printer();
  void print(Line line);  // now, where nothing waits before it
  void advance();         // prints what is complete; to be called when a value has come
  void drain();           // waits for all values, and prints

 private:
  void print_ready();  // holding the mutex

  const pid_t process_;
  std::mutex mutex_;
  Lines lines_;
  std::atomic<bool> waiting_{false};
};

}  // namespace flor::core
