// Finds the names of a program that lead to given names.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "probes/cxx/tree.h"

namespace flor::probes {

// Returns the seeds, and every function, macro and variable whose definition mentions one of these names,
// directly or through others. The trees must share their texts. `calls_only`: only names before a '(' count
// as mentions. `without`: a node of the tree that defines nothing; -1: none.
std::set<std::string> names_leading_to(const std::vector<const Tree*>& program, std::set<std::string> seeds,
                                       bool calls_only, int without = -1);

// Returns whether [begin, end) mentions one of the names.
bool mentions(const Tree& tree, size_t begin, size_t end, const std::set<std::string>& names);

}  // namespace flor::probes
