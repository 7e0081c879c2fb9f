// Finds which blocks compute the gradients that a statement reads. No checkpoint contains gradients
// (docs/semantics.md, rule 3).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "probes/cxx/tree.h"

namespace flor::probes {

struct GradientSource {
  // False: an earlier iteration may have left them.
  bool clear = true;
  // An earlier iteration of a loop without blocks may have left them.
  bool earlier_step = false;
  // The blocks that leave them: those before the statement in its function, back to the start of the
  // innermost loop that has blocks.
  std::vector<int> blocks;
};

// Analyses the statement at `node`. `backward`: functions that compute gradients. Looks back to the nearest
// such call that surely runs before the statement: what lies before that call is left out.
GradientSource gradients_read(const Tree& tree, int node, const std::set<std::string>& backward);

}  // namespace flor::probes
