// Pairs brackets.
#pragma once

#include "probes/cxx/tree.h"

namespace flor::probes {

// Fills tree->match from tree->tokens. Sets tree->error if brackets do not pair: in the file, in one branch
// of an #if, or in the text of one macro.
void check_brackets(Tree* tree);

}  // namespace flor::probes
