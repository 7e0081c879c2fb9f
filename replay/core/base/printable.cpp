#include "core/base/printable.h"

#include <array>
#include <cstdint>
#include <cstdio>

namespace flor::core {
namespace {

constexpr const char* replacement = "\xef\xbf\xbd";  // U+FFFD

struct Character {
  char32_t code = 0;
  // 0: not UTF-8.
  std::size_t bytes = 0;
};

// Returns the first character of a text that is not empty.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  static constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t code = lead & (0xffU >> (bytes + 1));
  for (std::size_t at = 1; at < bytes; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(at) & 0x3fU);
  }
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < smallest.at(bytes) || code > 0x10ffff || surrogate) return {};
  return {code, bytes};
}

bool is_harmful(char32_t code) {
  // Control characters.
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
  // Marks of writing direction.
  if (code == 0x061c || code == 0x200e || code == 0x200f) return true;
  // Line separators, overrides and isolates of direction.
  return (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

// Writes what is harmful as \uXXXX, except for the characters of `kept`.
std::string escaped(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_of(text);
    const std::size_t bytes = next.bytes == 0 ? 1 : next.bytes;
    if (next.bytes == 0) {
      out += replacement;
    } else if (is_harmful(next.code) && kept.find(text.front()) == std::string_view::npos) {
      std::array<char, 16> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(next.code));
      out += escape.data();
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) {
  return escaped(text, "");
}

std::string printable_lines(std::string_view text) {
  return escaped(text, "\n\t");
}

std::string shortened(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

}  // namespace flor::core
