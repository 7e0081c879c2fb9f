#include "core/process/user_name.h"

#include <pwd.h>

#include <array>
#include <map>
#include <mutex>

namespace flor::core {
namespace {

std::string asked_name(uid_t user) {
  std::array<char, 16384> text{};
  passwd entry = {};
  passwd* found = nullptr;
  const bool is_known = ::getpwuid_r(user, &entry, text.data(), text.size(), &found) == 0 && found != nullptr;
  return is_known ? found->pw_name : std::to_string(user);
}

}  // namespace

std::string user_name(uid_t user) {
  static std::mutex mutex;
  static std::map<uid_t, std::string> known;
  const std::lock_guard lock(mutex);
  auto& name = known[user];
  if (name.empty()) name = asked_name(user);
  return name;
}

}  // namespace flor::core
