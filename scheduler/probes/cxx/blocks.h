// The skip blocks of a file.
#pragma once

#include <string>
#include <vector>

#include "probes/cxx/tree.h"

namespace flor::probes {

// Marks in the tree the region of each skip block (Node::block, args_*). Known are
//   if (flor::SkipBlock b{"name", …}; b.step_into()) STATEMENT
//   flor::SkipBlock b{"name", …};  …  if (b.step_into()) STATEMENT
// with parentheses for braces, too. Any other mention of SkipBlock or step_into sets tree->unclear_line,
// because then nobody can say what lies inside of a block.
void mark_blocks(Tree* tree);

// A block's name as checkpoints have it (formats: scope paths).
std::string block_name(std::string literal);

// The innermost block whose region holds the node, the node itself included; -1 outside.
int block_around(const Tree& tree, int node);

// The function whose body holds the node, -1 where none does, or where a class or another function lies
// between.
int function_around(const Tree& tree, int node);

// The nodes of the subtree that are blocks, the root of the subtree included, in order of the text.
std::vector<int> blocks_in(const Tree& tree, int node);

}  // namespace flor::probes
