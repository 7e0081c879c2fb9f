// The same program from its start, in the same process: what Slurm, an agent and the user see stays.
#pragma once

namespace flor::core {

// With the command line and the directory that this process started with, and the environment as it is now.
// What is buffered for output is written first. Returns only where it could not be done.
void execute_again();

}  // namespace flor::core
