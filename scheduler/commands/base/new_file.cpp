#include "commands/base/new_file.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/base/error.h"
#include "core/base/valid_id.h"
#include "core/files/trusted_file.h"

namespace flor::commands {

namespace fs = std::filesystem;

fs::path new_file(fs::path path) {
  if (path.native().find('\0') != std::string::npos)
    throw core::UsageError(std::string(path.c_str()) + "… holds a NUL and names no file (--output)");
  path = fs::absolute(path);
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    throw core::UsageError(path.string() + " is a directory; name a file in it (--output)");
  if (fs::exists(fs::symlink_status(path, ignored)))
    throw core::UsageError(path.string() + " exists; remove it, or choose another file (--output)");
  if (!fs::is_directory(path.parent_path(), ignored)) {
    throw core::UsageError("there is no directory " + path.parent_path().string() +
                           " to write into; create it, or choose another file (--output)");
  }
  if (::access(path.parent_path().c_str(), W_OK) != 0) {
    throw core::UsageError("cannot write into " + path.parent_path().string() + " (" +
                           std::generic_category().message(errno) + "); choose another file (--output)");
  }
  return path;
}

std::string file_name_of(const core::RunDir& run, const core::Manifest& manifest) {
  return core::is_valid_id(manifest.name) && !core::is_foreign(run.path) ? manifest.name : run.id();
}

}  // namespace flor::commands
