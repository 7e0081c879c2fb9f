// Compares the random number generators at a loop's entry with those of the record. Motivation: what a
// program without a seed drew in front of the loop, as a split of its data, is other after a requeue. A
// resumption would mix both.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/session/session.h"
#include "core/store/generators.h"
#include "core/store/manifest.h"

namespace flor::core {

// The scope path at which a recording notes the generators at an outermost loop's entry.
inline std::string entry_of(const std::string& loop) {
  return loop + "=entry";
}

// Returns why the loop cannot be resumed, or std::nullopt. A generator from which nothing was drawn since it
// was seeded may differ: Python seeds `random` and numpy by chance at each start. Generators that only one
// side has are not compared. `recorded`: nullptr where the record has none.
std::optional<std::string> drawn_otherwise(const std::string& loop, const GeneratorStates* recorded,
                                           const GeneratorStates& present);

// Returns why a program in Python cannot be resumed whose sets of texts have another order than the recorded
// one's: another PYTHONHASHSEED. Takes presets (Frontend::preset()). What only one side has is not compared.
std::optional<std::string> hashed_otherwise(const std::map<std::string, std::string>& recorded,
                                            const std::map<std::string, std::string>& present);

// Returns why the loop that begins is not the recorded one, by mismatch_to_resume(), hashed_otherwise() or
// drawn_otherwise(); else std::nullopt. `recorded`: as drawn_otherwise() takes it.
std::optional<std::string> why_another(const Manifest& manifest, const RecordedLoop& loop,
                                       const GeneratorStates* recorded, const LoopSpec& present,
                                       Frontend& frontend);

}  // namespace flor::core
