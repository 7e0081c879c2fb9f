#include "core/store/copied_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <memory>

#include "core/base/error.h"
#include "core/files/descriptor.h"
#include "core/files/next_entry.h"
#include "core/files/safe_path.h"
#include "core/process/above_streams.h"

namespace flor::core {
namespace {

constexpr int deepest = 16;  // directories of a run are five deep

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

class Look {
 public:
  explicit Look(const RunDir& run) {
    struct stat info = {};
    if (::stat(run.path.parent_path().c_str(), &info) == 0 && (info.st_mode & S_ISGID) != 0)
      group_ = info.st_gid;
  }

  std::string at(int parent, const char* name, const fs::path& shown, int depth) {
    Descriptor file(above_streams(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
    if (!file) return errno == ELOOP || errno == ENOTDIR ? is_link(shown) : "";
    if (std::string why = open_to_others(file.get(), shown); !why.empty()) return why;
    const Directory entries(::fdopendir(file.get()));
    if (!entries) return "";
    file.release();  // closedir() closes it
    while (const dirent* entry = next_entry(entries.get())) {
      const std::string child = entry->d_name;
      if (child == "." || child == "..") continue;
      const unsigned char kind = kind_of(::dirfd(entries.get()), *entry);
      std::string why = kind == DT_LNK ? is_link(shown / child) : "";
      if (kind == DT_DIR && depth < deepest)
        why = at(::dirfd(entries.get()), entry->d_name, shown / child, depth + 1);
      if (!why.empty()) return why;
    }
    return "";
  }

 private:
  static unsigned char kind_of(int directory, const dirent& entry) {
    struct stat info = {};
    if (entry.d_type != DT_UNKNOWN || ::fstatat(directory, entry.d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
      return entry.d_type;
    return S_ISLNK(info.st_mode) ? DT_LNK : S_ISDIR(info.st_mode) ? DT_DIR : DT_REG;
  }

  static std::string is_link(const fs::path& path) {
    return path.string() +
           " is a link, behind which files would be written and removed; remove it, or put what it leads "
           "to in its place";
  }

  std::string open_to_others(int file, const fs::path& path) const {
    struct stat info = {};
    if (::fstat(file, &info) != 0) return "";
    const bool is_open_to_group = (info.st_mode & S_IWGRP) != 0 && info.st_gid != group_;
    const bool is_open =
        (info.st_mode & S_IWOTH) != 0 || (is_open_to_group && !is_closed_directory(path, Makers{}));
    return is_open ? "other users may write to " + path.string() +
                         ", and so change what is started; chmod -R go-w it first"
                   : "";
  }

  // The group that shares the store: it may write into runs, too. Minus one where no group does.
  gid_t group_ = static_cast<gid_t>(-1);
};

}  // namespace

std::string why_not_ones_own(const RunDir& run) {
  return Look(run).at(AT_FDCWD, run.path.c_str(), run.path, 0);
}

RunDir find_ones_own(const Store& store, const std::string& wanted) {
  RunDir run = store.find_own(wanted);
  const std::string why = why_not_ones_own(run);
  if (!why.empty()) throw UsageError("run " + run.id() + ": " + why);
  return run;
}

}  // namespace flor::core
