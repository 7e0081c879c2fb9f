// Lets Flor into a program of Python that names nothing of Flor's (replay/python/flor/_hook.py).
#pragma once

#include <map>
#include <string>

namespace flor::commands {

// Puts the folder with the hook in front of PYTHONPATH, if Flor was built or installed with it, and sets
// PYTHONHASHSEED where neither the user nor `environment` does. Other programs do not look at these
// variables.
void add_python_hook(std::map<std::string, std::string>& environment);

// Returns PYTHONPATH with the folder of the package `flor` behind all others, for an interpreter that has it
// not installed.
std::string path_with_package();

}  // namespace flor::commands
