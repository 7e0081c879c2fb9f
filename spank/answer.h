// Asks the store something that may hang, for the plugin, in a process that can be left behind.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace flor::spank {

// Runs `ask` in another process and returns its result, for calls that touch the store and so may hang.
// Returns nullopt if there is no result within `limit`, or if the process ended or threw before; then kills
// it.
// Motivation: a file system that hangs blocks the process that asks it, perhaps so that no signal ends it,
// and a task that cannot be killed costs its node ("Kill task failed"). So the process is no child of this
// one, has its own session, and keeps no inherited descriptor but its end of the pipe.
std::optional<std::string> answer_within(std::chrono::milliseconds limit,
                                         const std::function<std::string()>& ask);

}  // namespace flor::spank
