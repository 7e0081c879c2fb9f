// Checks the values of the --flor-* options, for srun and for the task.
#pragma once

#include <string>

namespace flor::spank {

// A message for the user: what is wrong, and what to do. Empty if nothing is wrong.
using Problem = std::string;

// Checks the value of --flor-KEY by itself. All values except that of --flor-store have the form that the
// commands and the library check as well (core/config/values.h).
Problem check_value(const std::string& key, const std::string& value);

}  // namespace flor::spank
