// Compares statements that print.
#pragma once

#include "probes/cxx/tree.h"

namespace flor::probes {

// Returns whether both statements print, and differ only in the printed text.
bool same_but_printed_text(const Tree& a, const Node& one, const Tree& b, const Node& other);

}  // namespace flor::probes
