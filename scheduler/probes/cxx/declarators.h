// Parses declarations of one or several variables.
#pragma once

#include <string>
#include <vector>

#include "probes/cxx/tree.h"

namespace flor::probes {

struct Declarator {
  // Token of the name.
  size_t name = 0;
  // A reference or pointer.
  bool indirect = false;
  bool pointer = false;
  // Of an array: how many indices lead to an element.
  int dimensions = 0;
  // The initializer without `=`, parentheses or braces. Empty: none.
  size_t init_begin = 0, init_end = 0;
  // The initializer stands in parentheses or braces.
  bool constructs = false;
};

struct Declarators {
  // Without cv, reference and template arguments: `std::vector`, `unsigned long`, `auto`.
  std::string type;
  size_t type_begin = 0, type_end = 0;
  // const or constexpr.
  bool constant = false;
  // static or thread_local.
  bool lasting = false;
  bool external = false;
  // In a range-based for. The initializer is the range.
  bool range = false;
  // `auto [a, b] = …`: each name has the whole initializer.
  bool binding = false;
  std::vector<Declarator> list;
};

// Parses the tokens [begin, end), with or without the ';'. Empty list: they declare no variables.
Declarators declarators(const Tree& tree, size_t begin, size_t end);

// Parses a parameter in [begin, end). Its name may be missing.
Declarators parameter(const Tree& tree, size_t begin, size_t end);

// Returns the token after the `>` that closes the `<` at `open`. Returns `open` if it opens no template
// arguments.
size_t behind_template(const Tree& tree, size_t open, size_t end);

}  // namespace flor::probes
