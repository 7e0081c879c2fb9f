#include "gc/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "core/files/descriptor.h"

namespace flor::gc {
namespace {

namespace fs = std::filesystem;
using core::Descriptor;

constexpr int as_directory = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

[[noreturn]] void fail(const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), "cannot remove " + path.string());
}

std::vector<std::string> names_in(const Descriptor& directory, const fs::path& shown) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(::dup(directory.get())), ::closedir);
  if (entries == nullptr) fail(shown);
  std::vector<std::string> out;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") out.push_back(name);
  }
  return out;
}

bool is_directory(const Descriptor& parent, const std::string& name) {
  struct stat info = {};
  return ::fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
}

void remove_in(const Descriptor& parent, const std::string& name, const fs::path& shown);

void empty(const Descriptor& directory, const fs::path& shown) {
  for (const auto& name : names_in(directory, shown)) remove_in(directory, name, shown / name);
}

void remove_in(const Descriptor& parent, const std::string& name, const fs::path& shown) {
  int how = 0;
  if (is_directory(parent, name)) {
    const Descriptor directory(::openat(parent.get(), name.c_str(), as_directory | O_NOFOLLOW));
    if (!directory) fail(shown);
    empty(directory, shown);
    how = AT_REMOVEDIR;
  }
  if (::unlinkat(parent.get(), name.c_str(), how) != 0 && errno != ENOENT) fail(shown);
}

}  // namespace

void remove_tree(const fs::path& path) {
  const Descriptor parent(::open(path.parent_path().c_str(), as_directory));
  if (!parent) fail(path);
  struct stat info = {};
  const std::string name = path.filename().string();
  if (::fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && info.st_uid != ::geteuid())
    throw core::Error("cannot remove " + path.string() + ": it is another user's");
  remove_in(parent, name, path);
}

}  // namespace flor::gc
