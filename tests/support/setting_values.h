// The rows of settings.table: what each key takes.
#pragma once

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace flor::test {

struct SettingValue {
  std::string key, value;
  bool fits = false;
};

inline std::vector<SettingValue> setting_values() {
  std::vector<SettingValue> out;
  std::ifstream in(FLOR_SETTINGS_TABLE);
  for (std::string line; std::getline(in, line);) {
    std::istringstream columns(line);
    std::string key, verdict, value;
    if (line.rfind('#', 0) == 0) continue;
    if (!std::getline(columns, key, '\t') || !std::getline(columns, verdict, '\t') ||
        !std::getline(columns, value))
      throw std::runtime_error("settings.table: " + line);
    out.push_back({key, value, verdict == "yes"});
  }
  return out;
}

}  // namespace flor::test
