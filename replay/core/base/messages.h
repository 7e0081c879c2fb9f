// Lines to the user on stderr. Thread-safe; each line is one write, so that lines of several processes that
// share a terminal or a file stay whole.
#pragma once

#include <string>

namespace flor::core {

void say(const std::string& line);        // "flor: …"
void warn(const std::string& line);       // "flor: warning: …"
void warn_once(const std::string& line);  // once in this process, however often it is called

}  // namespace flor::core
