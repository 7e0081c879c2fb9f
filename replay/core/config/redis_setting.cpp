#include "core/config/redis_setting.h"

namespace flor::core {

std::optional<std::string> redis_url(const Settings& settings) {
  auto asked = Settings::asked("redis");
  auto kept = settings.from_files("redis");
  if (!asked) return kept;
  return kept && without_password(*kept) == *asked ? kept : asked;
}

bool is_found_without_password(const Settings& settings, const std::string& url) {
  return without_password(url) == url || settings.from_files("redis") == url;
}

}  // namespace flor::core
