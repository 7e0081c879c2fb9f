// Other names that a program gives to number types.
#pragma once

#include <map>
#include <string>

#include "probes/program/program.h"

namespace flor::probes {

// `using Real = double;` outside of classes and functions: Real → double. A name that also stands for
// something else anywhere in the program is left out.
std::map<std::string, std::string> number_names(const Program& program);

}  // namespace flor::probes
