// Calls of flor::log.
#pragma once

#include <string>
#include <vector>

#include "probes/cxx/tree.h"

namespace flor::probes {

struct LogCall {
  size_t at = 0;     // its first token
  size_t open = 0;   // its opening parenthesis
  std::string name;  // "" where it is no literal
};

// May the file call flor::log without its namespace?
bool logs_unqualified(const Tree& tree);

// The call that begins at this token, if one does.
bool log_call(const Tree& tree, size_t at, bool unqualified, LogCall* call);

// The calls within [begin, end), lambdas included.
std::vector<LogCall> log_calls(const Tree& tree, size_t begin, size_t end, bool unqualified);

}  // namespace flor::probes
