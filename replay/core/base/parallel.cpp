#include "core/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "core/base/blocked_signals.h"

namespace flor::core {
namespace {

unsigned usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::clamp(CPU_COUNT(&set), 1, 4));
}

}  // namespace

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& part, unsigned threads) {
  if (threads == 0) threads = usable_processors();
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> next{0};
  auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        part(i);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
  };
  std::vector<std::thread> others;
  {
    const BlockedSignals blocked;
    try {
      for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i) others.emplace_back(work);
    } catch (const std::system_error&) {
      // No more threads can be started. Fewer do the same work.
    }
  }
  work();
  for (auto& thread : others) thread.join();
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace flor::core
