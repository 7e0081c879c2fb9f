#include "commands/base/options.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/config/settings.h"
#include "core/config/tools.h"

namespace flor::commands {

namespace fs = std::filesystem;

core::Store store_of(const std::string& flag) {
  if (flag.empty()) return core::Store(core::Settings::load().store());
  std::string path = fs::path(core::absolute_directory(flag)).lexically_normal().string();
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return core::Store(path);
}

core::Store existing_store_of(const std::string& flag) {
  core::Store store = store_of(flag);
  std::error_code ignored;
  if (std::filesystem::is_directory(store.path(), ignored)) return store;
  throw core::UsageError("there is no store " + store.path().string() +
                         "; `flor record -- ./train` makes one, --flor-store or FLOR_STORE chooses another");
}

fs::path own_directory() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

void add_own_directory(std::map<std::string, std::string>& environment) {
  std::error_code ignored;
  const fs::path directory = core::safe_directory_of(fs::read_symlink("/proc/self/exe", ignored));
  if (!directory.empty()) environment["FLOR_BIN"] = directory.string();
}

std::function<std::string(const std::string&)> whole_number(int64_t least) {
  return [least](const std::string& text) {
    const auto number = core::parse_number<int64_t>(text);
    if (number && *number >= least) return std::string();
    const bool any = least == std::numeric_limits<int64_t>::min();
    return "'" + text + "' is no whole number" + (any ? "" : " from " + std::to_string(least));
  };
}

std::string shown_seconds(double seconds) {
  std::array<char, 64> text{};
  if (seconds < 60) {
    std::snprintf(text.data(), text.size(), "%.1f s", std::max(seconds, 0.0));
    return text.data();
  }
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) {
    std::snprintf(text.data(), text.size(), "%lld:%02lld", whole / 60, whole % 60);
  } else {
    std::snprintf(text.data(), text.size(), "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return text.data();
}

}  // namespace flor::commands
