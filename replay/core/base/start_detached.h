// Starting a program that is no child of this process.
#pragma once

#include <string>
#include <vector>

namespace flor::core {

// Starts words[0], a path, with these arguments: in a session of its own, with /dev/null for its standard
// streams, no other descriptor of ours and default signals. The program that this library lives in cannot
// notice it: no SIGCHLD comes, and no wait() of its finds it. Copies no page tables, whatever the process
// holds. With `keep_stderr` it writes to this process's stderr. False where there is no such program, or no
// process for it.
bool start_detached(const std::vector<std::string>& words, bool keep_stderr = false);

}  // namespace flor::core
