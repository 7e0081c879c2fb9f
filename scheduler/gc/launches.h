// STORE/.launches: which run each launch recorded. Most of them are of use only as long as their job is.
#pragma once

#include <vector>

#include "core/store/store.h"

namespace flor::gc {

// Those that nobody asks for any more: whose run is gone, since a day at least; marks of steps that begun
// three months ago, and temporary files of processes that are gone. Of this user; of all users where root
// asks. Follows no link, and looks only where STORE/.launches/UID is that user's own.
std::vector<core::fs::path> ended_launches(const core::Store& store, double now);

// Removes it as its owner, if it is one still. Throws std::system_error that names the path.
void remove_ended_launch(const core::Store& store, const core::fs::path& path, double now);

}  // namespace flor::gc
