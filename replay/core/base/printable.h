// Makes any text safe to show on a terminal, in a table or in a log. Needs nothing but the standard library,
// so that the Slurm plugin can use it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace flor::core {

// Writes control characters, and characters that change the writing direction, as \uXXXX (\u001b).
// Replaces each byte that is not UTF-8 by U+FFFD. Pure.
std::string printable(std::string_view text);

// The same, but keeps \n and \t.
std::string printable_lines(std::string_view text);

// Cuts the text to at most `most` bytes, of which the last three are "..." where something was cut. Cuts no
// character of UTF-8. `most` must be at least 3. Pure.
std::string shortened(std::string text, std::size_t most);

}  // namespace flor::core
