// Measures the available memory, to choose a materializer.
#pragma once

#include <cstddef>
#include <filesystem>

namespace flor::core {

// Returns the bytes that this process may still allocate: the least of the machine's MemAvailable and of what
// each of its control groups leaves (version 2: memory.max minus memory.current, for each group up to the
// root). `root` is the directory with /proc and /sys.
std::size_t available_memory(const std::filesystem::path& root = "/");

}  // namespace flor::core
