// Names users for people to read. No right follows from a name.
#pragma once

#include <sys/types.h>

#include <string>

namespace flor::core {

// Returns the login of the user, or the number where this machine knows none. Asks for each number once: a
// store lists thousands of runs, and a directory service answers slowly. Thread-safe.
std::string user_name(uid_t user);

}  // namespace flor::core
