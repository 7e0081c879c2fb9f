// Quotes words of a command for a shell.
#pragma once

#include <string>
#include <vector>

namespace flor::core {

// Returns the word as it is, or in single quotes where a shell would not read it as the same word.
std::string shell_quoted(const std::string& word);

// Returns a command as a line that can be pasted into a shell. Its first word is no assignment there.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace flor::core
