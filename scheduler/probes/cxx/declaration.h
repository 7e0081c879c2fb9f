// Parses the declaration of one variable.
#pragma once

#include <optional>
#include <string>

#include "probes/cxx/tree.h"

namespace flor::probes {

struct Declaration {
  // Without cv, reference and template arguments: `std::vector`, `unsigned long`.
  std::string type;
  // A reference or pointer.
  bool indirect = false;
  // static, thread_local or extern.
  bool lasting = false;
  std::string name;
  // In a range-based for. The initializer is the range.
  bool range = false;
  size_t init_begin = 0, init_end = 0;
};

// Parses [begin, end), with or without the ';', as `TYPE NAME;`, `TYPE NAME = …;`, `TYPE NAME{…};`, `TYPE
// NAME(…);` or `TYPE NAME : …`. Returns nothing for anything else, or several variables.
std::optional<Declaration> declaration(const Tree& tree, size_t begin, size_t end);

}  // namespace flor::probes
