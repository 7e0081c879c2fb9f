// Prints rows to stdout in program order, although some values are computed in the background.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

#include "core/log/line.h"

namespace flor::core {

// Thread-safe. A reader that is gone ends nothing; rows are then lost. In a forked child a line is printed at
// once; lines that waited are printed by the parent only.
class Printer {
 public:
  Printer();
  // Prints now if no earlier line waits.
  void print(Line line);
  // Prints complete lines. Called when a value has arrived.
  void advance();
  // Waits for all values, at most so many seconds, and prints. Lines whose values are still missing then are
  // not printed.
  void drain(std::optional<std::chrono::duration<double>> limit = std::nullopt);
  // Hands the printed rows to the system, before the C library would do so at the program's end.
  static void flush();

 private:
  // Call with the mutex held.
  void print_ready();

  const pid_t process_;
  std::mutex mutex_;
  Lines lines_;
  std::atomic<bool> waiting_{false};
};

}  // namespace flor::core
