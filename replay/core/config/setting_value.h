// Reads settings in a running training process: warns about invalid values and ignores them.
#pragma once

#include <optional>
#include <string>

#include "core/base/messages.h"
#include "core/config/settings.h"
#include "core/config/values.h"

namespace flor::core {

// Returns `parse(*text)`. Returns std::nullopt where the setting is absent; also, with a warning, where its
// text does not have the form of `key`.
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
