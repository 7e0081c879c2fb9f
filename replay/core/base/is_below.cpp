#include "core/base/is_below.h"

#include <algorithm>
#include <filesystem>

namespace flor::core {

bool is_below(const std::string& path) {
  const std::filesystem::path parts(path);
  return !parts.has_root_directory() && std::find(parts.begin(), parts.end(), "..") == parts.end();
}

}  // namespace flor::core
