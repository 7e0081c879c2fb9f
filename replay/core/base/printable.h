// Makes any text safe to show on a terminal, in a table or in a log. Needs libc alone, so that the Slurm
// plugin can use it.
#pragma once

#include <string>
#include <string_view>

namespace flor::core {

// Escapes control characters and characters that change the writing direction, as JSON does (\u001b).
// Replaces each byte that is not UTF-8 by U+FFFD. Pure.
std::string printable(std::string_view text);

// The same, but keeps line breaks and tabs.
std::string printable_lines(std::string_view text);

}  // namespace flor::core
