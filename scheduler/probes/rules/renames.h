// Variables that an edit gave another name.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "probes/cxx/tree_diff.h"

namespace flor::probes {

// Gives variables of the recorded file the names that they have today, where every statement that differs in
// one differs in it alone: the old name is nowhere in the present file, the new one nowhere in the recorded.
// Of a function's local variable the same need hold within the function only. `in_macros`: words of the
// preprocessor lines of both programs.
// True: the recorded tree has changed.
bool apply_renames(Tree* recorded, const Tree& present, const std::vector<Edit>& edits,
                   const std::set<std::string>& in_macros);

}  // namespace flor::probes
