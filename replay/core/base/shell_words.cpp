#include "core/base/shell_words.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace flor::core {

std::string shell_quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::strchr("_-./=:,+@%", c) != nullptr;
  });
  if (plain) return word;
  std::string out = "'";
  for (char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) {
    const bool would_assign = out.empty() && word.find('=') != std::string::npos;
    const std::string text = shell_quoted(word);
    out += (out.empty() ? "" : " ") + (would_assign && text == word ? "'" + word + "'" : text);
  }
  return out;
}

}  // namespace flor::core
