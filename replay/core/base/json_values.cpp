#include "core/base/json_values.h"

#include <algorithm>

namespace flor::core {

std::size_t values_in(std::string_view text) {
  std::size_t values = 0;
  bool is_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') {
      is_string = false;  // no string goes on in another line
    } else if (c == '"') {
      is_string = !is_string;
    } else if (is_string) {
      // A newline is not skipped: another line begins there.
      if (c == '\\' && at + 1 < text.size() && text[at + 1] != '\n') ++at;
    } else if (c == ',' || c == '[' || c == '{') {
      ++values;
    }
  }
  return values;
}

std::size_t charged_bytes(std::string_view text) {
  return std::max(text.size(), values_in(text) * bytes_a_value);
}

}  // namespace flor::core
