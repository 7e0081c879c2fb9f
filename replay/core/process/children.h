// Ends the processes that this one has started, before it becomes another program.
#pragma once

namespace flor::core {

// Ends the children of this process, such as the workers of a data loader, and takes in their ends: by
// SIGTERM, and those that still run after two seconds by SIGKILL. Sets a handler of SIGCHLD back to the
// default. Motivation: execve() keeps the process number, so a child that waits for its parent's end would
// wait for ever, and keep the memory that it shares with the old program.
//
// Leaves alone a child that is older than the program, as what a script started before it became this one
// (exec): it would not be started again. Leaves alone a child that began a session of its own: it is meant to
// outlive this process, as an agent does that a first process of a container inherits. Leaves alone a child
// that ignores SIGTERM, too: it ends when execve() closes its pipe, as Python's resource tracker does, which
// has shared memory to remove then.
void end_children();

}  // namespace flor::core
