// Measures the memory of this machine, of the job and of the process, and says what a copy of state may take.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace flor::core {

inline constexpr std::size_t unlimited_memory = std::numeric_limits<std::size_t>::max();

// A control group of this process, of version 1 or 2. `needed`: its bytes without its cache of files, which
// the kernel drops before it kills. Memory that was given back (Staging::give_back()) counts with that cache.
struct MemoryGroup {
  std::filesystem::path path;
  std::size_t limit = unlimited_memory, needed = 0;
};

// In bytes, as /proc and /sys say now; unlimited_memory where they do not.
struct MemoryReading {
  // What can be allocated without swapping: MemAvailable.
  std::size_t machine = unlimited_memory;
  // The process now: the pages that are no file's, and those of files that it has mapped, which the kernel
  // drops when it wants them. Where the kernel does not tell them apart, `now` has all.
  std::size_t now = 0, files = 0;
  // The most pages that it had since clear_refs reset that, those of files among them (VmHWM).
  std::size_t peak = 0;
  // Its address space now, and the most that it ever was (VmPeak).
  std::size_t addresses = 0, most_addresses = 0;
  // The group of this process first, then those that it lies in.
  std::vector<MemoryGroup> groups;
};
// `root` is the directory with /proc and /sys.
MemoryReading read_memory(const std::filesystem::path& root = "/");

// Returns the bytes that Slurm gave a task of this step, by its environment. Sites without memory control
// groups may have Slurm watch it (JobAcctGatherParams=OverMemoryKill). Not while another thread may set
// variables, as Python's does.
std::size_t memory_of_task();

// Where the state lies that is copied to host memory.
enum class CopyFrom { host, device };

// Returns the bytes that a copy of state may take: a third of what is available, because training allocates
// more within its steps. If some of the state is on a device, where training does that, three quarters.
std::size_t room_for_copy(CopyFrom from, std::size_t available);

// Returns why a checkpoint that copies `bytes` bytes does not fit: one that does not has the job killed.
// Returns "" if it does. Ask for each checkpoint, while none is being written: the memory of the one before
// was given back, and training may have it now.
std::string why_no_copy(std::size_t bytes, CopyFrom from, std::size_t available);

}  // namespace flor::core
