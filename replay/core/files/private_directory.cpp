#include "core/files/private_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"

namespace flor::core {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw Error(what + ": " + std::strerror(errno));
}

}  // namespace

void require_private_directory(const std::filesystem::path& path, const std::string& way_out) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0) fail("cannot look at " + path.string());
  if (!S_ISDIR(info.st_mode)) throw Error(path.string() + " is no directory; " + way_out);
  if (info.st_uid != ::geteuid()) throw Error(path.string() + " is another user's; " + way_out);
  if ((info.st_mode & 077) != 0) {
    throw Error(path.string() + " is open to other users; chmod 700 it, or " + way_out);
  }
}

void make_private_directory(const std::filesystem::path& path, const std::string& way_out) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) fail("cannot create " + path.string());
  require_private_directory(path, way_out);
}

}  // namespace flor::core
