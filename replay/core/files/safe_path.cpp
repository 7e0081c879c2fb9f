#include "core/files/safe_path.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "core/files/shared_directory.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;

// Many systems give each user a group of their own, and let that group write.
bool is_users_own_group(gid_t group, uid_t user) {
  const passwd* account = ::getpwuid(user);
  const std::string name = account == nullptr ? "" : account->pw_name;
  const ::group* entry = ::getgrgid(group);
  return entry != nullptr && !name.empty() && name == entry->gr_name && entry->gr_mem[0] == nullptr;
}

bool may_others_write(const struct stat& info) {
  // The mode of a link says nothing; that of its directory counts.
  if (S_ISLNK(info.st_mode)) return false;
  if ((info.st_mode & S_IWOTH) != 0) return true;
  return (info.st_mode & S_IWGRP) != 0 && info.st_uid != 0 && !is_users_own_group(info.st_gid, info.st_uid);
}

bool may_others_replace(const struct stat& info) {
  return !(S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0) && may_others_write(info);
}

bool is_known(const fs::path& path, const struct stat& info, uid_t maker) {
  return info.st_uid == ::geteuid() || info.st_uid == maker || is_roots(path, info);
}

// Does a directory above `path` keep everyone else out?
bool is_out_of_reach(fs::path path, uid_t maker) {
  while (path != path.parent_path()) {
    path = path.parent_path();
    struct stat info = {};
    if (::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && is_known(path, info, maker) &&
        (info.st_mode & (S_IXGRP | S_IXOTH)) == 0)
      return true;
  }
  return false;
}

// Checks `path` and all directories above it, as they are named.
bool are_safe_as_named(fs::path path, uid_t maker) {
  while (true) {
    struct stat info = {};
    if (::lstat(path.c_str(), &info) != 0 || !is_known(path, info, maker)) return false;
    if (may_others_replace(info) && !is_out_of_reach(path, maker)) return false;
    if (path == path.parent_path()) return true;
    path = path.parent_path();
  }
}

}  // namespace

bool is_roots(const fs::path& path, const struct stat& info) {
  constexpr uid_t unmapped = 65534;  // user_namespaces(7), overflowuid
  if (info.st_uid == 0) return true;
  if (info.st_uid != unmapped || sees_all_users()) return false;
  struct stat above = {};
  return ::lstat(path.parent_path().c_str(), &above) == 0 && (above.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool is_safe_path(const fs::path& path, uid_t maker) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  // Checks both: canonical() gives the target without the links, and `path` as named leads through them.
  return !error && path.is_absolute() && are_safe_as_named(path, maker) && are_safe_as_named(target, maker);
}

bool is_safe_path(const fs::path& path) {
  return is_safe_path(path, ::geteuid());
}

bool is_closed_directory(const fs::path& directory, uid_t maker) {
  struct stat info = {};
  return ::stat(directory.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         (!may_others_write(info) || is_out_of_reach(fs::weakly_canonical(directory), maker)) &&
         is_safe_path(directory, maker);
}

}  // namespace flor::core
