#include "gc/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/files/descriptor.h"
#include "core/files/shared_directory.h"
#include "gc/walk.h"

namespace flor::gc {
namespace {

namespace fs = std::filesystem;
using core::Descriptor;

constexpr int as_directory = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

[[noreturn]] void fail(const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), "cannot remove " + path.string());
}

bool is_directory(const Descriptor& parent, const std::string& name) {
  struct stat info = {};
  return ::fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
}

// The deepest level that is entered. A directory below it is first moved up into `top`.
// Motivation: each level needs a descriptor and some of the stack, and the path of a deep file can be longer
// than the system allows.
constexpr int deepest = 32;

std::size_t entries_below(const fs::path& path) {
  std::size_t out = 0;
  walk(path, [&out](const Entry&) { ++out; });
  return out;
}

class Removal {
 public:
  Removal(const Descriptor& top, const fs::path& path, std::size_t most)
      : top_(top), path_(path), left_(most) {}

  void empty(const Descriptor& directory, const fs::path& shown, int depth) {
    for (const auto& name : names_in(directory, shown)) remove(directory, name, shown / name, depth);
  }

  // Returns true if directories were moved up since the last call: then the top must be emptied once more.
  bool moved() { return std::exchange(moved_, false); }

 private:
  std::vector<std::string> names_in(const Descriptor& directory, const fs::path& shown) {
    Descriptor copy(::openat(directory.get(), ".", as_directory));
    if (!copy) fail(shown);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(copy.get()), ::closedir);
    if (entries == nullptr) fail(shown);
    copy.release();  // closedir() closes it
    std::vector<std::string> out;
    while (const dirent* entry = ::readdir(entries.get())) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (left_-- == 0)
        throw core::Error("cannot remove " + path_.string() +
                          ": it is being filled meanwhile; end what writes there, and try again");
      out.push_back(name);
    }
    return out;
  }

  void remove(const Descriptor& parent, const std::string& name, const fs::path& shown, int depth) {
    int how = 0;
    if (is_directory(parent, name)) {
      how = AT_REMOVEDIR;
      if (depth == deepest) return move_up(parent, name, shown);
      const Descriptor directory(::openat(parent.get(), name.c_str(), as_directory | O_NOFOLLOW));
      if (!directory) fail(shown);
      empty(directory, shown, depth + 1);
    }
    if (::unlinkat(parent.get(), name.c_str(), how) != 0 && errno != ENOENT) fail(shown);
  }

  void move_up(const Descriptor& parent, const std::string& name, const fs::path& shown) {
    const std::string above = core::unguessable_name(".deeper.");
    if (::renameat(parent.get(), name.c_str(), top_.get(), above.c_str()) != 0 && errno != ENOENT)
      fail(shown);
    moved_ = true;
  }

  const Descriptor& top_;
  const fs::path& path_;
  std::size_t left_;  // so many entries may still be removed
  bool moved_ = false;
};

void remove_directory(const Descriptor& parent, const std::string& name, const fs::path& shown,
                      std::size_t most_more) {
  const Descriptor directory(::openat(parent.get(), name.c_str(), as_directory | O_NOFOLLOW));
  if (!directory) fail(shown);
  Removal removal(directory, shown, entries_below(shown) + most_more);
  do {
    removal.empty(directory, shown, 1);
  } while (removal.moved());
}

}  // namespace

void remove_tree(const fs::path& path, std::size_t most_more) {
  const Descriptor parent(::open(path.parent_path().c_str(), as_directory));
  if (!parent) fail(path);
  struct stat info = {};
  const std::string name = path.filename().string();
  if (::fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && info.st_uid != ::geteuid())
    throw core::Error("cannot remove " + path.string() + ": it is another user's");
  const bool is_tree = is_directory(parent, name);
  if (is_tree) remove_directory(parent, name, path, most_more);
  if (::unlinkat(parent.get(), name.c_str(), is_tree ? AT_REMOVEDIR : 0) != 0 && errno != ENOENT) fail(path);
}

}  // namespace flor::gc
