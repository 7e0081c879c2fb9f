// Finds aliases that a program gives to number types.
#pragma once

#include <map>
#include <string>

#include "probes/program/program.h"

namespace flor::probes {

// Returns Real → double for `using Real = double;` outside classes and functions. Leaves out a name that
// means anything else anywhere in the program.
std::map<std::string, std::string> number_names(const Program& program);

}  // namespace flor::probes
