// Measures the available memory, to choose a materializer, and to leave out what would not fit.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace flor::core {

// Returns the bytes that this process may still allocate beside what training takes at its most: the least of
// the machine's MemAvailable, of what each of its control groups leaves, of version 1 or 2, up to the root,
// and of what the limit of its address space leaves (ulimit -v). What a group's cache of files holds counts
// as available: the kernel drops it first. So does memory that was given back (Staging::give_back()), which
// the kernel keeps and counts with that cache. What the process had at its peak, and has not now, does not:
// the next step of training takes it again. `ours`: the part of that peak which was a copy of state. `root`
// is the directory with /proc and /sys.
std::size_t available_memory(const std::filesystem::path& root = "/", std::size_t ours = 0);

// Where the state lies that is copied to host memory.
enum class CopyFrom { host, device };

// Returns the bytes that a copy of state may take: a third of what is available, because training allocates
// more within its steps. If some of the state is on a device, where training does that, three quarters.
std::size_t room_for_copy(CopyFrom from, std::size_t available = available_memory());

// Returns why a checkpoint that copies `bytes` bytes does not fit: one that does not has the job killed.
// Returns "" if it does. Ask for
// each checkpoint, while none is being written: the memory of the one before was given back, and training may
// have it now. While one is being written from memory that is used again, that counts as available, too.
std::string why_no_copy(std::size_t bytes, CopyFrom from, std::size_t available = available_memory());

}  // namespace flor::core
