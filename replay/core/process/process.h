// How this process was started, how it starts again, and how it ends.
#pragma once

#include <string>
#include <vector>

namespace flor::core {

// Returns the words of /proc/self/cmdline.
std::vector<std::string> command_line();
// Returns the variables that this process was started with, each "NAME=value"; empty where /proc hides them.
std::vector<std::string> first_environment();
// Returns the working directory at the time when the library was loaded. A program may change its directory
// before its first loop.
const std::string& start_directory();

// Executes the program again from its start, in the same process, so that Slurm, the agent and the user see
// no change. Keeps the command line and the present environment; where that has become too large, takes
// environment_to_start_with(). Goes back to start_directory(); warns where that is gone. Flushes buffered
// output and ends the program's children first (children.h). Returns only on failure, after a warning.
void execute_again();

// Returns the variables that the program began with, but flor's own (FLOR_*) as they are now. All are
// "NAME=value". Pure.
std::vector<std::string> environment_to_start_with(const std::vector<std::string>& at_start,
                                                   const std::vector<std::string>& present);

// Flushes buffered output and ends the process by _exit(), without exit handlers. The library ends a process
// only here.
[[noreturn]] void leave_process(int code);

}  // namespace flor::core
