// Starts programs from within a training program, which must not notice it: it gets no SIGCHLD when they end,
// and its wait() does not find them.
#pragma once

#include <string>
#include <vector>

namespace flor::core {

// Starts a program that is not a child of this process, such as the agent: words[0], a path, with the other
// words as its arguments. The new process has its own session, default signals, /dev/null for its standard
// streams, and no other descriptor of this process. With `keep_stderr` it writes to this process's stderr.
// The program that uses the library cannot notice it: no SIGCHLD comes, and no wait() finds it. Copies no
// page tables, so it takes no longer in a process with much memory. Returns false where the program cannot be
// executed, or where no process can be started.
bool start_detached(const std::vector<std::string>& words, bool keep_stderr = false);

// Runs words[0], a path, with the other words as its arguments, and waits for its end. It has the environment
// and the standard streams of this process, and default signals; where `output` is given, its stdout is
// appended there. Returns its exit code, 128 + N where signal N ended it, and 127 where it cannot be
// executed. Throws std::system_error where no process can be started. Thread-safe.
int run_program(const std::vector<std::string>& words, std::string* output = nullptr);

}  // namespace flor::core
