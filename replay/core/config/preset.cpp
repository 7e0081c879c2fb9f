#include "core/config/preset.h"

#include <algorithm>
#include <string_view>

namespace flor::core {
namespace {

bool is_word(const std::string& value) {
  const auto fits = [](char c) {
    const bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return alphanumeric || std::string_view("_-+.,: ").find(c) != std::string_view::npos;
  };
  return value.size() <= 128 && std::all_of(value.begin(), value.end(), fits);
}

}  // namespace

const std::vector<std::string>& preset_names() {
  static const auto& names = *new std::vector<std::string>{
      "ATEN_CPU_CAPABILITY", "CUBLAS_WORKSPACE_CONFIG", "MKL_NUM_THREADS", "OMP_NUM_THREADS",
      "OPENBLAS_CORETYPE",   "OPENBLAS_NUM_THREADS",    "PYTHONHASHSEED"};
  return names;
}

std::map<std::string, std::string> known_preset(const std::map<std::string, std::string>& recorded) {
  std::map<std::string, std::string> out;
  for (const auto& name : preset_names()) {
    const auto found = recorded.find(name);
    if (found != recorded.end() && is_word(found->second)) out.insert(*found);
  }
  return out;
}

}  // namespace flor::core
