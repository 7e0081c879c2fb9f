// What can be said of a skip block from the way it is written.
#pragma once

#include <string>
#include <vector>

#include "probes/cxx/tree.h"

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

}  // namespace flor::probes
