// A logged row: a name, a value, and where in the program it was logged.
#pragma once

#include <cstdint>
#include <string>

#include "core/log/line.h"
#include "core/store/scope.h"

namespace flor::core {

struct Row {
  std::string name;
  // JSON text (json_text). Unused if the value is still being computed (`later`).
  std::string value;
  bool is_volatile = false;
  Later later = {};
  // It is not printed: the program itself shows the value.
  bool is_quiet = false;
};

// Returns the row as a line of a log, with its loops as columns and its scope path (docs/formats.md, "Rows").
// `attempt` is that of the recording; 0 is not written.
Line row_line(const Row& row, const Scope& scope, int64_t attempt = 0);

}  // namespace flor::core
