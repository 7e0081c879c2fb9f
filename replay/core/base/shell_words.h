// Words of a command as a shell reads them.
#pragma once

#include <string>
#include <vector>

namespace flor::core {

// Returns the word as a shell reads it back: as it is, or in single quotes.
std::string shell_quoted(const std::string& word);

// Returns the words as a line that can be pasted into a shell.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace flor::core
