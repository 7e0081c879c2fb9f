// Measures available memory.
#pragma once

#include <cstddef>
#include <filesystem>

namespace flor::core {

// Returns the bytes that this process may still allocate: the lesser of what the machine has (MemAvailable)
// and what its control groups leave (version 2: memory.max minus memory.current, of each group up to the
// root). `root`: where /proc and /sys are mounted.
std::size_t available_memory(const std::filesystem::path& root = "/");

}  // namespace flor::core
