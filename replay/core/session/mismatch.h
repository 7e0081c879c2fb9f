// Compares the running program with the recorded one, and describes differences to the user. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/session/session.h"
#include "core/store/manifest.h"

namespace flor::core {

// Returns why the loop differs from the recorded one; std::nullopt where both run over the same values.
std::optional<std::string> mismatch(const RecordedLoop& recorded, const LoopSpec& live);

// As mismatch(), for a recording that is to go on: a container must have as many elements as the recorded
// one. A replay finds that by the end of the loop (docs/semantics.md, rule 14).
std::optional<std::string> mismatch_to_resume(const RecordedLoop& recorded, const LoopSpec& live);

// Returns how the environment differs, as "KEY is 'HERE', recorded 'THERE', …"; empty where all recorded keys
// are equal.
std::string mismatch(const std::map<std::string, std::string>& recorded,
                     const std::map<std::string, std::string>& live);

}  // namespace flor::core
