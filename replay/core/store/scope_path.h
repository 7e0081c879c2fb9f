// Reads scope paths, which say where in the program a row was logged (docs/formats.md, "Scope paths"). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flor::core {

// One element of a scope path. Loops have a value.
struct ScopeElement {
  // With its occurrence, "epoch#1". For a block without its ordinal.
  std::string_view name;
  bool loop = false;
  // The iteration of a loop, or the ordinal of a block.
  int64_t value = 0;
};
std::vector<ScopeElement> scope_elements(std::string_view path);

using ScopeLoops = std::vector<std::pair<std::string, int64_t>>;
// Returns the loops of a path, outermost first, as name and value: the columns of a table.
ScopeLoops scope_loops(std::string_view path);

}  // namespace flor::core
