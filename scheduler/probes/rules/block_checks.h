// Checks skip blocks by the way they are written.
#pragma once

#include <string>
#include <vector>

#include "probes/cxx/tree.h"

namespace flor::probes {

struct Unskippable {
  std::string block;
  int line = 0;
  // As in "is left by `break` here".
  std::string why;
};

// Returns the blocks of the file that cannot be skipped as they are written. Either their code may leave the
// block by break, continue, return or goto, so the recorded run may have left early there (a throw is fine).
// Or the object of the block outlives its `if`, so that later code runs before the checkpoint is taken and
// would run again after its restore. The tree must have marked blocks.
std::vector<Unskippable> unskippable(const Tree& tree);

}  // namespace flor::probes
