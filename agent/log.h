// The agent's log: one line per notable event on stderr, with the time.
#pragma once

#include <string>

namespace flor::agent {

// Writes each line with one write(2), so that the lines of several threads do not mix. Thread-safe. Replaces
// control characters in `text`.
void log_line(const std::string& text);

}  // namespace flor::agent
