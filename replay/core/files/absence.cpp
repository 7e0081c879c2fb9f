#include "core/files/absence.h"

#include <sys/stat.h>

#include <cerrno>

namespace flor::core {

bool is_absent(const std::filesystem::path& path) noexcept {
  struct stat info = {};
  return ::stat(path.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

}  // namespace flor::core
