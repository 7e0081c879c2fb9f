// What several commands need of their flags and of this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>

#include "core/store/store.h"

namespace flor::commands {

// The store of `--store`, where it is not empty, else of the settings.
core::Store store_of(const std::string& flag);

// The directory that this `flor` lies in: where workers find `flor-agent`.
std::filesystem::path own_directory();

// For CLI11's check(): refuses in words what is no whole number, or one below `least`.
std::function<std::string(const std::string&)> whole_number(
    int64_t least = std::numeric_limits<int64_t>::min());

// "1.5 s", "2:05", "3:02:05"
std::string shown_seconds(double seconds);

// "1 unit", "3 units"
std::string counted(std::size_t n, const std::string& what);

}  // namespace flor::commands
