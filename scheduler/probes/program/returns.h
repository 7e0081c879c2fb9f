// How a function hands back its value: as a copy, or as another name of what it returns.
#pragma once

#include <cstddef>

#include "probes/program/expressions.h"

namespace flor::probes {

// Returns how a function returns what the tokens [begin, end) name: the words in front of its name, or those
// behind `->`. No tokens: by `auto`, as a lambda does.
Returns returns_as(const Tree& tree, size_t begin, size_t end, const Vocabulary& words);

// Returns the same of a function whose name, with its class, ends in front of the parenthesis at `open`, and
// whose body begins at `body`.
Returns returns_of(const Tree& tree, size_t begin, size_t open, size_t body, const Vocabulary& words);

// Returns the token behind `->` in [begin, end), in front of the initialisers of a constructor. `end`: none.
size_t trailing_type(const Tree& tree, size_t begin, size_t end);

}  // namespace flor::probes
