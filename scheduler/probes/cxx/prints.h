// Statements that print.
#pragma once

#include "probes/cxx/tree.h"

namespace flor::probes {

// Do both statements print, and differ in nothing but the texts that they print?
bool same_but_printed_text(const Tree& a, const Node& one, const Tree& b, const Node& other);

}  // namespace flor::probes
