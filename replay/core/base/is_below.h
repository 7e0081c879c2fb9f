// Tells whether a path that a file names stays below the directory that the file belongs to.
#pragma once

#include <string>

namespace flor::core {

// False for an absolute path, and for one with a component "..". Looks at the text alone: a link on the way
// may still lead elsewhere.
bool is_below(const std::string& path);

}  // namespace flor::core
