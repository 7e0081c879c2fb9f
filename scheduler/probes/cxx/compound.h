// What does a brace open?
#pragma once

#include <string>

#include "probes/cxx/tree.h"

namespace flor::probes {

// The kind of the compound that the brace at `brace` opens behind the tokens [begin, brace), inside a
// compound of kind `around`. kLeaf: none, but an initializer or a lambda, which belongs to its statement.
NodeKind classify(const Tree& tree, size_t begin, size_t brace, NodeKind around);

// The name of the function with this head, without its class; "" where none is found.
std::string function_name(const Tree& tree, size_t begin, size_t brace);

// Where the body begins of a control statement in [begin, end) that has no braces; `begin` where it is none,
// or one that only its whole text says what it is (do, try, a body of nothing).
size_t bare_body(const Tree& tree, size_t begin, size_t end);

// The kind of the control statement whose head is [begin, body).
NodeKind bare_kind(const Tree& tree, size_t begin, size_t body);

}  // namespace flor::probes
