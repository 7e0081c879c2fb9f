// The agent's log: one line per notable event on stderr, with the time.
#pragma once

#include <string>

namespace flor::agent {

// One write(2) a line, so that lines of several threads stay whole. Control characters become blanks.
void log_line(const std::string& text);

}  // namespace flor::agent
