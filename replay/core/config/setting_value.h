// Settings that the library reads by itself, in a process that nobody can refuse any more.
#pragma once

#include <optional>
#include <string>

#include "core/base/messages.h"
#include "core/config/settings.h"

namespace flor::core {

// What `parse` makes of a setting's text. Nothing: there is none, or one line has told that it is not `what`
// such settings are.
template <class Parse>
auto setting_value(const std::optional<std::string>& text, const std::string& key, const std::string& what,
                   Parse parse) -> decltype(parse(*text)) {
  if (!text) return std::nullopt;
  auto value = parse(*text);
  if (!value) {
    warn(key + " is " + what + "; '" + *text + "' is not (" + Settings::variable_of(key) + ", or " + key +
         " in flor.conf) and is passed over");
  }
  return value;
}

}  // namespace flor::core
