// What several commands need of their flags and of this process.
#pragma once

#include <filesystem>
#include <string>

#include "core/store/store.h"

namespace flor::commands {

// The store of `--store`, where it is not empty, else of the settings.
core::Store store_of(const std::string& flag);

// The directory that this `flor` lies in: where workers find `flor-agent`.
std::filesystem::path own_directory();

// "1.5 s", "2:05", "3:02:05"
std::string shown_seconds(double seconds);

// "1 unit", "3 units"
std::string counted(std::size_t n, const std::string& what);

}  // namespace flor::commands
