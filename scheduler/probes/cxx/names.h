// Which names of a program lead to a word?
#pragma once

#include <set>
#include <string>
#include <vector>

#include "probes/cxx/tree.h"

namespace flor::probes {

// The seeds, and every function, macro and variable of the program whose definition mentions one of these
// names, directly or through another. The trees share their texts. With `calls_only`, a mention is a name in
// front of a '('. What stands in the node `without` of the tree, if one is given, defines nothing.
std::set<std::string> names_leading_to(const std::vector<const Tree*>& program, std::set<std::string> seeds,
                                       bool calls_only, int without = -1);

// Does [begin, end) mention one of the names?
bool mentions(const Tree& tree, size_t begin, size_t end, const std::set<std::string>& names);

}  // namespace flor::probes
