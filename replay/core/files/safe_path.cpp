#include "core/files/safe_path.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

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

bool may_others_write(const struct stat& info, const Makers& makers) {
  // The mode of a link says nothing; that of its directory counts.
  if (S_ISLNK(info.st_mode)) return false;
  if ((info.st_mode & S_IWOTH) != 0) return true;
  // The root of a container is a user like others.
  const bool is_real_root = info.st_uid == 0 && sees_all_users();
  return (info.st_mode & S_IWGRP) != 0 && !is_real_root && makers.groups.count(info.st_gid) == 0 &&
         !is_users_own_group(info.st_gid, info.st_uid);
}

bool may_others_replace(const struct stat& info, const Makers& makers) {
  return !(S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0) && may_others_write(info, makers);
}

// Could a member of one of the groups have made this entry? A link could lead elsewhere, so it must be an
// owner's.
bool may_be_a_members(const fs::path& path, const struct stat& info, const Makers& makers) {
  struct stat above = {};
  return !S_ISLNK(info.st_mode) && ::lstat(path.parent_path().c_str(), &above) == 0 &&
         (above.st_mode & S_IWGRP) != 0 && makers.groups.count(above.st_gid) != 0;
}

bool is_known(const fs::path& path, const struct stat& info, const Makers& makers) {
  return info.st_uid == ::geteuid() || makers.owners.count(info.st_uid) != 0 || is_roots(path, info) ||
         may_be_a_members(path, info, makers);
}

// Does a directory above `path` keep everyone else out?
bool is_out_of_reach(fs::path path, const Makers& makers) {
  while (path != path.parent_path()) {
    path = path.parent_path();
    struct stat info = {};
    if (::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && is_known(path, info, makers) &&
        (info.st_mode & (S_IXGRP | S_IXOTH)) == 0)
      return true;
  }
  return false;
}

// Is this entry, a file, a directory or a link, what root, this user or the makers made of it?
bool is_safe_entry(const fs::path& path, const Makers& makers) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0 || !is_known(path, info, makers)) return false;
  return !may_others_replace(info, makers) || is_out_of_reach(path, makers);
}

// The entries that the kernel visits on its way to `path`: each directory and each link, in order, and the
// target. Empty where there is none.
std::vector<fs::path> way_to(const fs::path& path) {
  constexpr int most_links = 40;  // the kernel's own limit
  std::vector<fs::path> way{"/"};
  fs::path at = "/";
  const fs::path named = path.relative_path();
  std::deque<fs::path> rest(named.begin(), named.end());
  for (int links = 0; !rest.empty();) {
    const fs::path part = rest.front();
    rest.pop_front();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      at = at.parent_path();
      continue;
    }
    way.push_back(at / part);
    struct stat info = {};
    if (::lstat(way.back().c_str(), &info) != 0) return {};
    if (!S_ISLNK(info.st_mode)) {
      at = way.back();
      continue;
    }
    if (++links > most_links) return {};
    std::error_code error;
    const fs::path target = fs::read_symlink(way.back(), error);
    if (error) return {};
    if (target.is_absolute()) at = "/";
    const fs::path more = target.relative_path();
    rest.insert(rest.begin(), more.begin(), more.end());
  }
  return way;
}

}  // namespace

bool is_unmapped(uid_t owner) {
  constexpr uid_t unmapped = 65534;  // user_namespaces(7), overflowuid
  return owner == unmapped && !sees_all_users();
}

bool is_roots(const fs::path& path, const struct stat& info) {
  if (info.st_uid == 0) return true;
  if (!is_unmapped(info.st_uid)) return false;
  struct stat above = {};
  return ::lstat(path.parent_path().c_str(), &above) == 0 && (above.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

Makers makers_of(const fs::path& program) {
  Makers out;
  fs::path at = program;
  while (true) {
    struct stat info = {};
    if (::lstat(at.c_str(), &info) == 0) {
      if (!is_unmapped(info.st_uid)) out.owners.insert(info.st_uid);
      const bool is_open_to_group = (info.st_mode & S_IWGRP) != 0 && (info.st_mode & S_ISVTX) == 0;
      if (is_open_to_group && sees_all_users()) out.groups.insert(info.st_gid);
    }
    if (at == at.parent_path()) return out;
    at = at.parent_path();
  }
}

bool is_safe_path(const fs::path& path, const Makers& makers) {
  if (!path.is_absolute()) return false;
  const auto way = way_to(path);
  return !way.empty() && std::all_of(way.begin(), way.end(), [&makers](const fs::path& entry) {
    return is_safe_entry(entry, makers);
  });
}

bool is_safe_path(const fs::path& path) {
  return is_safe_path(path, Makers{});
}

bool is_closed_directory(const fs::path& directory, const Makers& makers) {
  struct stat info = {};
  return ::stat(directory.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         (!may_others_write(info, makers) || is_out_of_reach(fs::weakly_canonical(directory), makers)) &&
         is_safe_path(directory, makers);
}

}  // namespace flor::core
