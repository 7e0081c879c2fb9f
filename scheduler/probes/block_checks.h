// What can be said of a skip block from the way it is written.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "scheduler/probes/tree.h"

namespace flor::probes {

struct Unskippable {
  std::string block;
  int line = 0;
  std::string why;  // "is left by `break` here"
};

// The blocks of the file that cannot be skipped as they are written: their code may leave the block by break,
// continue, return or goto (the recorded run may have left early there; to throw is fine), or the block's
// object outlives its `if`, so that code behind it runs before the checkpoint is taken and would run again
// behind its restore. Wants a tree with marked blocks.
std::vector<Unskippable> unskippable(const Tree& tree);

// What skipping the block leaves stale.
struct Stale {
  std::set<std::string> places;  // changed_beside() its arguments
  std::set<std::string> names;   // of variables and functions elsewhere whose definitions mention such a one
};
Stale unrestored(const Tree& tree, int block);

}  // namespace flor::probes
