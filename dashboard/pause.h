// How long the server waits until it looks at the store again.
#pragma once

#include <chrono>

namespace flor::dashboard {

// `took`: the last look. `answering`: the seconds that an answer took which all viewers ask for when there is
// news. The looks, and those answers, take at most a quarter of the time, so far as the pause is no longer
// than a minute for the former, and ten seconds for the latter. Pure.
std::chrono::milliseconds pause_after(std::chrono::steady_clock::duration took, double answering);

}  // namespace flor::dashboard
