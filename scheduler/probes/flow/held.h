// What the arguments of a block or guard hold: restoring them restores it (docs/semantics.md, rule 18a).
#pragma once

#include <string>
#include <vector>

#include "probes/flow/flow.h"

namespace flor::probes {

// Returns whether the block holds the path when it is skipped. A module holds its modules, parameters and
// buffers, and no other member. A type with the hook flor_state holds what the hook names.
bool block_holds(const Flow& flow, int block, const AccessPath& path);

// Returns whether the guard in front of the main loop holds the path, in replays that restore it to enter an
// iteration.
bool guard_holds(const Flow& flow, const AccessPath& path);

// A variable that a block, or the main loop, changes for later code, and that its arguments do not hold.
struct Unheld {
  // "": the main loop, with the guard in front of it.
  std::string block;
  // As the program calls it.
  std::string name;
  // Last component of its path.
  std::string file;
  // Where it is changed.
  int line = 0;
};
std::vector<Unheld> unheld(const Flow& flow);

}  // namespace flor::probes
