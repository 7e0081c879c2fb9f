#include "core/log/printer.h"

#include <stdio_ext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/base/held_signals.h"

namespace flor::core {
namespace {

// Drops what no one reads any more. The C library would try again with it, and end the process.
void drop_unread() {
  if (errno == EPIPE) ::__fpurge(stdout);
}

void write_out(const std::string& text) {
  if (text.empty()) return;
  // Usually the buffer has room, and no signal can come.
  const bool fits = ::__flbf(stdout) == 0 && ::__fpending(stdout) + text.size() < ::__fbufsize(stdout);
  if (fits) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  const HeldSignals held;
  ::flockfile(stdout);
  if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size()) drop_unread();
  ::funlockfile(stdout);
}

}  // namespace

Printer::Printer() : process_(::getpid()) {}

void Printer::print(Line line) {
  // The usual case; it must be fast.
  if (!line.value.valid() && !waiting_) return write_out(line.head + '\n');
  if (::getpid() != process_) {
    // In a forked child the lock may never be released, and the waiting lines belong to the parent.
    if (!line.value.valid()) return write_out(line.head + '\n');
    Lines alone;
    alone.add(std::move(line));
    std::vector<std::string> ignored;
    return write_out(alone.take_all(ignored));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  lines_.add(std::move(line));
  print_ready();
}

void Printer::advance() {
  const std::lock_guard<std::mutex> lock(mutex_);
  print_ready();
}

void Printer::drain(std::optional<std::chrono::duration<double>> limit) {
  if (!waiting_ || ::getpid() != process_) return;
  std::vector<Later> awaited;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    awaited = lines_.awaited();
  }
  // Waits without the lock: the threads that compute the values print, too.
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& value : awaited) {
    if (!limit) {
      value.wait();
    } else if (value.wait_for(*limit - (std::chrono::steady_clock::now() - begin)) !=
               std::future_status::ready) {
      break;
    }
  }
  advance();
}

void Printer::flush() {
  const HeldSignals held;
  // Another thread may hang in a write.
  if (::ftrylockfile(stdout) != 0) return;
  if (std::fflush(stdout) != 0) drop_unread();
  ::funlockfile(stdout);
}

void Printer::print_ready() {
  // The row itself says what failed.
  std::vector<std::string> ignored;
  write_out(lines_.take(ignored));
  waiting_ = !lines_.empty();
}

}  // namespace flor::core
