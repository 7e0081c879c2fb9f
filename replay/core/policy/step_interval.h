// How far apart the places inside of an iteration are at which a checkpoint may be taken.
#pragma once

#include <algorithm>
#include <optional>

namespace flor::core {

// Seconds from one such place to the next. `given`: by the user; else a part takes ten seconds at least, for
// a shorter one gains a replay nothing, and an iteration has no more than about eight, for each is a file of
// the whole state; more where `recovery` from failures wants them nearer to each other (Policy::interval).
// `usual`: what an iteration takes; in the first one nobody knows, and parts grow with the seconds `into` it,
// so that their number grows with its logarithm.
inline double step_interval(std::optional<double> given, std::optional<double> recovery,
                            std::optional<double> usual, double into) {
  constexpr double shortest = 10, parts = 8, growth = 4;
  const double replay = usual ? *usual / parts : into / growth;
  return given.value_or(std::max(shortest, std::min(replay, recovery.value_or(replay))));
}

}  // namespace flor::core
