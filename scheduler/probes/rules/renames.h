// Recognises variables that an edit renamed.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "probes/cxx/tree_diff.h"

namespace flor::probes {

// Renames variables of the recorded tree to their present names, where every statement that differs in one
// differs only in it: the old name must not occur in the present file, nor the new one in the recorded file.
// For a local variable this need hold only within its function. `in_macros`: words in preprocessor lines of
// both programs. Returns whether the recorded tree changed.
bool apply_renames(Tree* recorded, const Tree& present, const std::vector<Edit>& edits,
                   const std::set<std::string>& in_macros);

}  // namespace flor::probes
