#include "core/files/private_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/base/error.h"

namespace flor::core {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw Error(what + ": " + std::strerror(errno));
}

bool is_own_directory(const std::string& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::getuid();
}

// Returns the first sibling by name, so that processes which created two at once agree on one; empty if there
// is none. Where the directory is sticky, no other user can create one that belongs to this user, or remove
// it.
std::string first_own_sibling(const std::filesystem::path& folder, const std::string& path) {
  std::string first;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().string();
    if (name.rfind(path + ".", 0) != 0 || !is_own_directory(name)) continue;
    if (first.empty() || name < first) first = std::move(name);
  }
  return first;
}

}  // namespace

std::filesystem::path own_directory_in(const std::filesystem::path& folder) {
  std::string path = (folder / ("flor-" + std::to_string(::getuid()))).string();
  if (::mkdir(path.c_str(), 0700) == 0 || is_own_directory(path)) return path;
  if (first_own_sibling(folder, path).empty()) {
    std::string name = path + ".XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) return path;
  }
  return first_own_sibling(folder, path);
}

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
