// Says how near to each other checkpoints of all that training needs may be. Nearer ones gain a replay
// nothing.
#pragma once

#include <algorithm>
#include <optional>

namespace flor::core {

// Returns the seconds from one checkpoint inside an iteration to the next. `given`: the user's choice; it
// decides alone. `recovery`: what recovery from failures wants (Policy::interval); it can shorten the
// interval. `usual`: what an iteration takes. `into`: seconds into the present iteration. Without a choice:
// at least ten seconds, because shorter parts gain a replay nothing; at most about eight parts, because each
// is a file of the whole state. In the first iteration `usual` is unknown, and parts grow with `into`, so
// their number grows with its logarithm.
inline double step_interval(std::optional<double> given, std::optional<double> recovery,
                            std::optional<double> usual, double into) {
  constexpr double shortest = 10, parts = 8, growth = 4;
  const double replay = usual ? *usual / parts : into / growth;
  return given.value_or(std::max(shortest, std::min(replay, recovery.value_or(replay))));
}

// Is a checkpoint between two iterations too near to the last one? `since`: seconds computed since that one.
// `computed`: seconds computed by the run so far. `given`: the user's choice, which can only shorten the
// distance. Their number grows with its logarithm at first, then by one in five seconds: where iterations are
// short, ε would pay for many more.
inline bool is_crowded(double since, double computed, std::optional<double> given = {}) {
  constexpr double enough = 5, parts = 16;
  return since < std::min({enough, computed / parts, given.value_or(enough)});
}

}  // namespace flor::core
