// Declarations of variables, several at a time.
#pragma once

#include <string>
#include <vector>

#include "probes/cxx/tree.h"

namespace flor::probes {

struct Declarator {
  size_t name = 0;        // token
  bool indirect = false;  // a reference or pointer
  bool pointer = false;
  size_t init_begin = 0, init_end = 0;  // without `=`, parentheses or braces; empty: none
  bool constructs = false;              // by parentheses or braces
};

struct Declarators {
  std::string type;  // without cv, reference and template arguments: `std::vector`, `unsigned long`, `auto`
  size_t type_begin = 0, type_end = 0;
  bool constant = false;  // const, constexpr
  bool lasting = false;   // static, thread_local
  bool external = false;
  bool range = false;    // of a range-based for: the initializer is the range
  bool binding = false;  // auto [a, b] = …: each name has the whole initializer
  std::vector<Declarator> list;
};

// Reads the tokens [begin, end), with or without the ';'. Empty list: it is no declaration of variables.
Declarators declarators(const Tree& tree, size_t begin, size_t end);

// The parameter in [begin, end): a declaration whose name may be missing.
Declarators parameter(const Tree& tree, size_t begin, size_t end);

// Behind the `>` that closes the `<` at `open`, or `open` where it opens no template arguments.
size_t behind_template(const Tree& tree, size_t open, size_t end);

}  // namespace flor::probes
