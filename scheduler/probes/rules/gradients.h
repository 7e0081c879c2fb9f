// Where the gradients come from that a statement reads: their values are in no checkpoint (docs/semantics.md,
// rule 3).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "probes/cxx/tree.h"

namespace flor::probes {

struct GradientSource {
  bool clear = true;          // false: an earlier iteration may have left them
  bool earlier_step = false;  // an earlier iteration of a loop without blocks may have
  // The blocks that leave them: those before the statement in its function, back to the start of the
  // innermost loop with blocks in it.
  std::vector<int> blocks;
};

// Of a statement at `node`. `backward`: functions that compute gradients. Nothing but `clear` where one of
// them stands before the statement in its list, or in one around that.
GradientSource gradients_read(const Tree& tree, int node, const std::set<std::string>& backward);

}  // namespace flor::probes
