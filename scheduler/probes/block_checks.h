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

// Variables that the block's code changes visibly (an assignment, `++`, push_back) and that are neither its
// own nor among its arguments: skipping the block leaves them stale. What it changes through a call is not
// seen.
std::set<std::string> unrestored(const Tree& tree, int block);

}  // namespace flor::probes
