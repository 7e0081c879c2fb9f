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

// Says whether state on a device can be copied to host memory. All ways to write a checkpoint need such a
// copy, and one that does not fit has the job killed. State in host memory is another matter: a forked
// process writes it without a copy.
class DeviceCopies {
 public:
  // Returns why a checkpoint that copies `bytes` bytes, some of them from a device, does not fit; "" if it
  // does. It may take three quarters of what is left beside the largest copy so far, whose memory is kept and
  // used again.
  std::string why_not(std::size_t bytes, std::size_t available = available_memory()) const;
  // Such a copy was made.
  void made(std::size_t bytes) { largest_ = bytes > largest_ ? bytes : largest_; }

 private:
  std::size_t largest_ = 0;
};

}  // namespace flor::core
