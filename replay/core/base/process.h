// This process: how it was started, how it starts again, and how it ends.
#pragma once

#include <string>
#include <vector>

namespace flor::core {

// The words of /proc/self/cmdline.
std::vector<std::string> command_line();
// Where the process was when the library was loaded: a program may change its directory before its first
// loop.
const std::string& start_directory();

// Executes the same program from its start, in the same process: Slurm, the agent and the user see no change.
// It gets the same command line, its first directory where that is still there, and the environment as it is
// now; where that has become too large, environment_to_start_with(). Writes buffered output first. Returns
// only where it fails, after a warning.
void execute_again();

// The environment that the program began with, and flor's own variables as they are now. Both as
// "NAME=value". Pure.
std::vector<std::string> environment_to_start_with(const std::vector<std::string>& at_start,
                                                   const std::vector<std::string>& present);

// Ends the process at once, without exit handlers, after buffered output is written. The library ends a
// process here and nowhere else.
[[noreturn]] void leave_process(int code);

}  // namespace flor::core
