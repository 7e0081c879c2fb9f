// How much memory this process may still take.
#pragma once

#include <cstddef>
#include <filesystem>

namespace flor::core {

// The lesser of what the machine has (MemAvailable) and what the control groups of this process leave
// (version 2: memory.max less memory.current, of each group up to the root). Bytes. `root`: where /proc and
// /sys lie.
std::size_t available_memory(const std::filesystem::path& root = "/");

}  // namespace flor::core
