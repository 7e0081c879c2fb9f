// Declarations of one variable.
#pragma once

#include <optional>
#include <string>

#include "probes/cxx/tree.h"

namespace flor::probes {

struct Declaration {
  std::string type;       // without cv, reference and template arguments: `std::vector`, `unsigned long`
  bool indirect = false;  // a reference or pointer
  bool lasting = false;   // static, thread_local, extern
  std::string name;
  bool range = false;  // stands in a range-based for; the initializer is the range
  size_t init_begin = 0, init_end = 0;
};

// Reads [begin, end), with or without the ';', as `TYPE NAME;`, `TYPE NAME = …;`, `TYPE NAME{…};`, `TYPE
// NAME(…);` or `TYPE NAME : …`. Nothing where it is something else or declares several variables.
std::optional<Declaration> declaration(const Tree& tree, size_t begin, size_t end);

}  // namespace flor::probes
