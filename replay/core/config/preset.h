// Selects environment variables that a launcher sets before a worker starts: those to record, and those to
// take from a record. That may be another user's, so only the variables named here pass: none that loads code
// or leads to files.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace flor::core {

// The names of these variables.
const std::vector<std::string>& preset_names();

// Returns those of `recorded` that have such a name, and a short, plain value: at most 128 letters, digits,
// blanks and _-+.,:
std::map<std::string, std::string> known_preset(const std::map<std::string, std::string>& recorded);

}  // namespace flor::core
