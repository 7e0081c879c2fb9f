// What of a record's environment a launcher sets before a worker's process starts. The record may be another
// user's, so only what is named here passes: nothing that loads code, or leads to files.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace flor::core {

// The names of the variables.
const std::vector<std::string>& preset_names();

// Those of `recorded` that have such a name, and a value of one word.
std::map<std::string, std::string> known_preset(const std::map<std::string, std::string>& recorded);

}  // namespace flor::core
