// What the arguments of a block or guard hold, so that to restore them is to have it (docs/semantics.md, rule
// 18a).
#pragma once

#include <string>
#include <vector>

#include "probes/flow/flow.h"

namespace flor::probes {

// Does block `block` hold the path when it is skipped? A module holds its modules, parameters and buffers,
// and no other member; a type with the hook flor_state what the hook names.
bool block_holds(const Flow& flow, int block, const AccessPath& path);

// Does the guard in front of the main loop, where an iteration is entered by restoring it?
bool guard_holds(const Flow& flow, const AccessPath& path);

// A variable that a block, or the main loop, changes for those after it, and that its arguments do not hold.
struct Unheld {
  std::string block;  // "": the main loop, and the guard in front of it
  std::string name;   // as the program calls it
  std::string file;   // the last component of its path
  int line = 0;       // where it is changed
};
std::vector<Unheld> unheld(const Flow& flow);

}  // namespace flor::probes
