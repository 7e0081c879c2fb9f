// Classifies compound statements: what does a brace open?
#pragma once

#include <string>

#include "probes/cxx/tree.h"

namespace flor::probes {

// Returns the kind of the compound that the brace at `brace` opens after the tokens [begin, brace), inside a
// compound of kind `around`. kLeaf: no compound but an initializer or a lambda, which is part of its
// statement.
NodeKind classify(const Tree& tree, size_t begin, size_t brace, NodeKind around);

// Returns the name of the function with this head, without its class. "": not found.
std::string function_name(const Tree& tree, size_t begin, size_t brace);

// Returns where the body begins of a control statement in [begin, end) without braces. Returns `begin` if it
// is no control statement, or a kind that only its whole text shows (do, try, an empty body).
size_t bare_body(const Tree& tree, size_t begin, size_t end);

// Returns the kind of the control statement whose head is [begin, body).
NodeKind bare_kind(const Tree& tree, size_t begin, size_t body);

}  // namespace flor::probes
