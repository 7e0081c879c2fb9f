// Does the program that replays, here, match what was recorded? Pure: the record and what is found in, text
// for people out.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/session/session.h"
#include "core/store/manifest.h"

namespace flor::core {

// Why the main loop is another one than the recorded; nothing when it runs over the same values.
std::optional<std::string> mismatch(const RecordedLoop& recorded, const LoopSpec& live);

// What of the environment differs, as "KEY is 'HERE', recorded 'THERE', …"; empty when all of it is the same.
std::string mismatch(const std::map<std::string, std::string>& recorded,
                     const std::map<std::string, std::string>& live);

}  // namespace flor::core
