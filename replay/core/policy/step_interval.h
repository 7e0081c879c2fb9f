// Chooses how far apart the checkpoints inside an iteration may be.
#pragma once

#include <algorithm>
#include <optional>

namespace flor::core {

// Returns the seconds from one such checkpoint to the next. `given`: the user's choice; it decides alone.
// `recovery`: what recovery from failures wants (Policy::interval); it can shorten the interval. `usual`:
// what an iteration takes. `into`: seconds into the present iteration.
// Without a choice: at least ten seconds, because shorter parts gain a replay nothing; at most about eight
// parts, because each is a file of the whole state. In the first iteration `usual` is unknown, and parts grow
// with `into`, so their number grows with its logarithm.
inline double step_interval(std::optional<double> given, std::optional<double> recovery,
                            std::optional<double> usual, double into) {
  constexpr double shortest = 10, parts = 8, growth = 4;
  const double replay = usual ? *usual / parts : into / growth;
  return given.value_or(std::max(shortest, std::min(replay, recovery.value_or(replay))));
}

}  // namespace flor::core
