#include "core/config/redis_setting.h"

namespace flor::core {

std::string without_password(const std::string& url) {
  const bool is_socket = url.rfind("unix://", 0) == 0;
  const std::string scheme = is_socket ? "unix://" : "redis://";
  const auto at = is_socket ? url.rfind("@/") : url.rfind('@');
  if (url.rfind(scheme, 0) != 0 || at == std::string::npos) return url;
  if (is_socket && url[scheme.size()] == '/') return url;  // a path without a login
  const std::string login = url.substr(scheme.size(), at - scheme.size());
  const std::string user = login.substr(0, login.find(':'));
  return scheme + (user.empty() ? url.substr(at + 1) : user + url.substr(at));
}

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
