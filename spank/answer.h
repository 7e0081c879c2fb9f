#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace flor::spank {

// Returns what `ask` returns, which runs in a process of its own; nothing where it has not returned within
// `limit`, or its process ended before. Motivation: a file system that hangs holds who asks it, perhaps
// beyond any signal, and a task that cannot be killed costs its node ("Kill task failed"). So the process is
// no child of this one, holds no descriptor of it and is in no session of it. It is killed when the time is
// over.
std::optional<std::string> answer_within(std::chrono::milliseconds limit,
                                         const std::function<std::string()>& ask);

}  // namespace flor::spank
