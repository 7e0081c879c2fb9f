#include "core/files/existence.h"

#include <sys/stat.h>

#include <cerrno>
#include <system_error>

namespace flor::core {

std::optional<bool> existence_of(const std::filesystem::path& path) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return std::nullopt;
}

bool is_there(const std::filesystem::path& path) {
  if (const auto known = existence_of(path)) return *known;
  throw std::system_error(errno, std::generic_category(), "cannot look at " + path.string());
}

bool is_absent(const std::filesystem::path& path) {
  return existence_of(path) == false;
}

}  // namespace flor::core
