// Text that a terminal, a table or a log takes as text alone, whatever it holds. Needs libc alone, so that
// the Slurm plugin uses it too.
#pragma once

#include <string>
#include <string_view>

namespace flor::core {

// Control characters, and those that turn the direction of writing around, become escapes as in JSON
// (\u001b); bytes that are no UTF-8 become U+FFFD. Pure.
std::string printable(std::string_view text);

// The same; line breaks and tabs stay.
std::string printable_lines(std::string_view text);

}  // namespace flor::core
