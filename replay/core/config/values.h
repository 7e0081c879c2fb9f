// The values of settings as users write them. One form for srun's plugin, the commands and the library: what
// one of them takes, all take. Pure; of the standard library alone, for the plugin.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flor::core {

// All of them: nothing where the text is no such value.
std::optional<double> epsilon_from(const std::string& text);
std::optional<std::int64_t> every_from(const std::string& text);
std::optional<std::int64_t> keep_from(const std::string& text);  // "all" is 0
std::optional<std::string> materializer_from(const std::string& text);
std::optional<std::string> name_from(const std::string& text);
std::optional<double> seconds_from(const std::string& text);  // 0 or more

// Half-open. An end that is left out is the record's.
struct ValueRange {
  std::optional<std::int64_t> begin, end;
};
// "40:60", "40:", ":60", "7" for 7:8, and several of these with commas between.
std::optional<std::vector<ValueRange>> ranges_from(const std::string& text);

struct SettingForm {
  const char* key;   // in flor.conf; FLOR_KEY, --flor-KEY and --KEY are made of it
  const char* what;  // its value is
  bool (*fits)(const std::string& value);
};

// Of the settings and flags that have a form; throws std::out_of_range for others.
const SettingForm& setting_form(std::string_view key);

}  // namespace flor::core
