// Helpers that several commands share: checks of flags, and texts for numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "core/base/units_text.h"
#include "core/store/store.h"

namespace flor::commands {

// Returns the store of `--store` (`flag`), or, if that is empty, the one of the settings.
core::Store store_of(const std::string& flag);
// The same. Throws core::UsageError where there is no such directory.
core::Store existing_store_of(const std::string& flag);

// Returns the directory of this `flor`, where workers find `flor-agent`.
std::filesystem::path own_directory();

// Sets FLOR_BIN in `environment`, for programs that look for `flor` and `flor-agent`, to the directory of
// this `flor`. Leaves FLOR_BIN as it is where another user could put a program into that directory.
void add_own_directory(std::map<std::string, std::string>& environment);

// Returns a check for CLI11's check(): refuses, with a message, a text that is no whole number from `least`
// on.
std::function<std::string(const std::string&)> whole_number(
    int64_t least = std::numeric_limits<int64_t>::min());

// Returns a duration as text: "1.5 s", "2:05" (minutes), "3:02:05" (hours).
std::string shown_seconds(double seconds);

using core::counted;

}  // namespace flor::commands
