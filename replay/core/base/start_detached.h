// Starts a program that is not a child of this process, such as the agent.
#pragma once

#include <string>
#include <vector>

namespace flor::core {

// Starts words[0], a path, with the other words as its arguments. The new process has its own session,
// default signals, /dev/null for its standard streams, and no other descriptor of this process. With
// `keep_stderr` it writes to this process's stderr. The program that uses the library cannot notice it: no
// SIGCHLD comes, and no wait() finds it. Copies no page tables, so that the memory of this process does not
// matter. Returns false where the program cannot be executed, or where no process can be started.
bool start_detached(const std::vector<std::string>& words, bool keep_stderr = false);

}  // namespace flor::core
