#include "gc/launches.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <system_error>

#include "core/base/parse_number.h"
#include "core/files/descriptor.h"
#include "core/files/next_entry.h"
#include "core/files/shared_directory.h"
#include "core/files/trusted_file.h"
#include "core/store/slurm_job.h"
#include "gc/acting_as.h"
#include "gc/leftovers.h"

namespace flor::gc {
namespace {

namespace fs = core::fs;

constexpr double hour = 3600;  // seconds
constexpr double day = 24 * hour;
constexpr std::size_t longest_text = 4096;  // bytes
const char* const launches = ".launches";

// STORE/.launches/UID, opened.
// Motivation: everyone can write to STORE, so the path alone may lead through a link to any other directory.
struct UserDirectory {
  core::Descriptor descriptor;
  fs::path path;
};

core::Descriptor open_directory(int parent, const fs::path& name) {
  return core::Descriptor(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

std::vector<std::string> names_in(const core::Descriptor& directory) {
  std::vector<std::string> out;
  core::Descriptor copy(::dup(directory.get()));
  if (!copy) return out;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(copy.get()), ::closedir);
  if (!entries) return out;
  copy.release();  // closedir() closes it
  ::rewinddir(entries.get());
  while (const dirent* entry = core::next_entry(entries.get())) out.emplace_back(entry->d_name);
  return out;
}

// Opens the directory STORE/.launches/`name`, if it belongs to the user with that number, and if this process
// runs as that user or as root.
std::optional<UserDirectory> user_directory(const core::Store& store, const std::string& name) {
  const core::Descriptor common = open_directory(AT_FDCWD, store.path() / launches);
  if (!common) return std::nullopt;
  UserDirectory out{open_directory(common.get(), name), store.path() / launches / name};
  struct stat info = {};
  if (!out.descriptor || ::fstat(out.descriptor.get(), &info) != 0) return std::nullopt;
  const bool is_own = info.st_uid == ::geteuid() && out.path == core::user_directory(store.path(), launches);
  const bool is_users = core::is_root() && core::parse_number<uid_t>(name) == info.st_uid;
  if (!is_own && !is_users) return std::nullopt;
  return out;
}

// `.LAUNCH.begun` and `.LAUNCH.shared` (docs/formats.md, "The store").
bool is_mark(const std::string& name) {
  const std::string end = name.substr(std::min(name.rfind('.'), name.size()));
  return name.front() == '.' && name.size() > end.size() + 1 && (end == ".begun" || end == ".shared");
}

// Returns true if the file is no longer needed; false if it cannot be read.
bool has_ended(const core::Store& store, const UserDirectory& user, const std::string& name, double now) {
  struct stat info = {};
  if (::fstatat(user.descriptor.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(info.st_mode))
    return false;
  const double age = now - static_cast<double>(info.st_mtime);
  if (is_abandoned(name)) return age > hour;
  if (is_mark(name)) return age > core::longest_job_s;
  if (!core::is_valid_id(name) || age <= day) return false;
  try {
    const std::string text =
        core::read_regular(user.descriptor.get(), name, core::Links::refused, longest_text);
    const std::string run = text.substr(0, text.find_first_of(" \n"));
    return core::is_valid_id(run) && !fs::exists(fs::symlink_status(store.path() / run));
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

std::vector<fs::path> ended_launches(const core::Store& store, double now) {
  std::vector<fs::path> out;
  const core::Descriptor common = open_directory(AT_FDCWD, store.path() / launches);
  if (!common) return out;
  for (const auto& number : names_in(common)) {
    const auto user = user_directory(store, number);
    if (!user) continue;
    const ActingAs owner(user->descriptor.get(), user->path);
    for (const auto& name : names_in(user->descriptor)) {
      if (has_ended(store, *user, name, now)) out.push_back(user->path / name);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

void remove_ended_launch(const core::Store& store, const fs::path& path, double now) {
  const auto user = user_directory(store, path.parent_path().filename().string());
  if (!user) return;
  const ActingAs owner(user->descriptor.get(), user->path);
  const std::string name = path.filename().string();
  if (!has_ended(store, *user, name, now)) return;
  if (::unlinkat(user->descriptor.get(), name.c_str(), 0) != 0 && errno != ENOENT)
    throw std::system_error(errno, std::generic_category(), "cannot remove " + path.string());
}

}  // namespace flor::gc
