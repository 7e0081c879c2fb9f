// Finds the skip blocks of a file.
#pragma once

#include <string>
#include <vector>

#include "probes/cxx/tree.h"

namespace flor::probes {

// Sets Node::block and Node::args_* on the region of each skip block. Recognised forms:
//   if (flor::SkipBlock b{"name", …}; b.step_into()) STATEMENT
//   flor::SkipBlock b{"name", …};  …  if (b.step_into()) STATEMENT
// also with parentheses instead of braces. Any other mention of SkipBlock or step_into sets
// tree->unclear_line: the extent of that block is unknown.
void mark_blocks(Tree* tree);

// Returns the name of a block as checkpoints use it (docs/formats.md, scope paths).
std::string block_name(std::string literal);

// Returns the innermost block whose region contains the node, or is the node. -1: none.
int block_around(const Tree& tree, int node);

// Returns the function whose body contains the node. -1: none, or a class or another function lies between.
int function_around(const Tree& tree, int node);

// Returns the blocks in the subtree, its root included, in order of the text.
std::vector<int> blocks_in(const Tree& tree, int node);

}  // namespace flor::probes
