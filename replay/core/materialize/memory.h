// Measures the available memory, to choose a materializer, and to leave out what would not fit.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace flor::core {

// Returns the bytes that this process may still allocate: the least of the machine's MemAvailable and of what
// each of its control groups leaves, of version 1 or 2, up to the root. What a group's cache of files holds
// counts as available: the kernel drops it first. `root` is the directory with /proc and /sys.
std::size_t available_memory(const std::filesystem::path& root = "/");

// Says whether there is host memory for a copy of the state: one that does not fit has the job killed. Not
// thread-safe.
class StateCopies {
 public:
  enum class From { host, device };
  // Returns why a checkpoint that copies `bytes` bytes does not fit; "" if it does. What it needs beyond the
  // largest copy so far, whose memory is used again, may be half of what is available, because training
  // allocates more within its steps. If some of the state is on a device, where training does that, it may
  // be three quarters.
  std::string why_not(std::size_t bytes, From from, std::size_t available = available_memory()) const;
  // Such a copy was made.
  void made(std::size_t bytes) { largest_ = bytes > largest_ ? bytes : largest_; }

 private:
  std::size_t largest_ = 0;
};

}  // namespace flor::core
