// Prints lines for the user to stderr. Thread-safe. Each line is one write(), so that the lines of several
// processes on one terminal or file do not mix. Control characters are escaped (printable.h).
#pragma once

#include <string>

namespace flor::core {

// Prints "flor: LINE". Here and below, control characters but line breaks and tabs are escaped.
void say(const std::string& line);
// Prints "flor: warning: LINE".
void warn(const std::string& line);
// As warn(), but prints the same line only once in this process.
void warn_once(const std::string& line);

}  // namespace flor::core
