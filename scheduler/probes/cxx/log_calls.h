// Finds calls of flor::log.
#pragma once

#include <string>
#include <vector>

#include "probes/cxx/tree.h"

namespace flor::probes {

struct LogCall {
  // Its first token.
  size_t at = 0;
  // Its opening parenthesis.
  size_t open = 0;
  // "" if the name is no literal.
  std::string name;
};

// Returns whether the file may call flor::log without its namespace.
bool logs_unqualified(const Tree& tree);

// Parses the call that begins at this token. Returns false if none does.
bool log_call(const Tree& tree, size_t at, bool unqualified, LogCall* call);

// Returns the calls in [begin, end), those in lambdas included.
std::vector<LogCall> log_calls(const Tree& tree, size_t begin, size_t end, bool unqualified);

}  // namespace flor::probes
