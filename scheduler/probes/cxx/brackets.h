// Pairs brackets, and limits how deeply statements nest.
#pragma once

#include "probes/cxx/tree.h"

namespace flor::probes {

// Fills tree->match from tree->tokens. Sets tree->error if brackets do not pair: in the file, in one branch
// of an #if, or in the text of one macro.
void check_brackets(Tree* tree);

// Sets tree->error if more than 500 statements stand one in the other: those who read them recurse. Counts a
// chain of `else if` as nested. tree->match must be filled.
void check_nesting(Tree* tree);

}  // namespace flor::probes
