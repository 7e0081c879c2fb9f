// Settings read in a running training process: invalid values are warned about and passed over.
#pragma once

#include <optional>
#include <string>

#include "core/base/messages.h"
#include "core/config/settings.h"
#include "core/config/values.h"

namespace flor::core {

// What `parse` makes of a setting's text. Nothing: there is none, or it does not have the key's form.
template <class Parse>
auto setting_value(const std::optional<std::string>& text, const std::string& key, Parse parse)
    -> decltype(parse(*text)) {
  if (!text) return std::nullopt;
  auto value = parse(*text);
  if (!value) {
    warn(key + " is " + setting_form(key).what + "; '" + *text + "' is not (" + Settings::variable_of(key) +
         ", or " + key + " in flor.conf) and is passed over");
  }
  return value;
}

}  // namespace flor::core
