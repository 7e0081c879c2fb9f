#include "dashboard/http/message.h"

#include <algorithm>

namespace flor::dashboard {
namespace {

int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

std::optional<std::string> decoded(std::string_view text, bool plus_is_blank) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char letter = text[i];
    if (letter == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      letter = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (letter == '+' && plus_is_blank) {
      letter = ' ';
    }
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) return std::nullopt;
    out += letter;
  }
  return out;
}

bool climbs(std::string_view path) {
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (path.substr(at, end - at) == "..") return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

std::optional<Target> target_from(std::string_view text) {
  if (text.empty() || text.front() != '/') return std::nullopt;
  const std::size_t mark = text.find('?');
  auto path = decoded(text.substr(0, mark), false);
  if (!path || climbs(*path)) return std::nullopt;
  Target out{std::move(*path), {}};
  if (mark == std::string_view::npos) return out;
  for (std::size_t at = mark + 1; at < text.size();) {
    const std::size_t end = std::min(text.find('&', at), text.size());
    const std::string_view pair = text.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = decoded(pair.substr(0, equals), true);
    auto value = decoded(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!name || !value) return std::nullopt;
    out.query[std::move(*name)] = std::move(*value);
  }
  return out;
}

}  // namespace flor::dashboard
