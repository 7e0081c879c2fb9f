// Parses the values of settings as users write them. The Slurm plugin, the commands and the library use these
// functions, so that all three accept the same values. Pure; needs the standard library alone, for the
// plugin.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flor::core {

// Each returns std::nullopt where the text is no such value.
std::optional<double> epsilon_from(const std::string& text);
std::optional<std::int64_t> every_from(const std::string& text);
// "all" is 0.
std::optional<std::int64_t> keep_from(const std::string& text);
std::optional<std::string> materializer_from(const std::string& text);
std::optional<std::string> name_from(const std::string& text);
// 0 or more.
std::optional<double> seconds_from(const std::string& text);

// A half-open range of loop values. A bound that is left out is that of the record.
struct ValueRange {
  std::optional<std::int64_t> begin, end;
};
// Parses "40:60", "40:", ":60" or "7", which is 7:8, or several of these with commas between.
std::optional<std::vector<ValueRange>> ranges_from(const std::string& text);

struct SettingForm {
  // As in flor.conf; FLOR_KEY, --flor-KEY and --KEY are made from it.
  const char* key;
  // Completes the sentence "KEY is …".
  const char* what;
  bool (*fits)(const std::string& value);
};

// Returns the form of a setting or flag. Throws std::out_of_range for a key without one.
const SettingForm& setting_form(std::string_view key);

}  // namespace flor::core
