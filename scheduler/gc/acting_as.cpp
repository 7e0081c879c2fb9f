#include "gc/acting_as.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "core/files/shared_directory.h"

namespace flor::gc {
namespace {

constexpr gid_t no_group = 65534;

// Takes the groups of the user. A user whom the node does not know gets no groups.
bool take_groups(uid_t user) {
  const passwd* entry = ::getpwuid(user);
  if (entry == nullptr) return ::setgroups(0, nullptr) == 0 && ::setegid(no_group) == 0;
  return ::initgroups(entry->pw_name, entry->pw_gid) == 0 && ::setegid(entry->pw_gid) == 0;
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why, int error) {
  throw core::Error(path.string() + " is left as it is: " + why + " (" + std::strerror(error) + ")");
}

}  // namespace

ActingAs::ActingAs(const std::filesystem::path& path) {
  if (!core::is_root()) return;
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0) refuse(path, "its owner cannot be told", errno);
  become(info.st_uid, path);
}

ActingAs::ActingAs(int descriptor, const std::filesystem::path& path) {
  if (!core::is_root()) return;
  struct stat info = {};
  if (::fstat(descriptor, &info) != 0) refuse(path, "its owner cannot be told", errno);
  become(info.st_uid, path);
}

void ActingAs::become(uid_t owner, const std::filesystem::path& path) {
  if (owner == 0) return;
  group_ = ::getegid();
  groups_.resize(static_cast<std::size_t>(::getgroups(0, nullptr)));
  ::getgroups(static_cast<int>(groups_.size()), groups_.data());
  changed_ = true;
  if (take_groups(owner) && ::seteuid(owner) == 0) return;
  const int error = errno;
  give_back();
  refuse(path, "root cannot act as its owner, user " + std::to_string(owner), error);
}

ActingAs::~ActingAs() {
  give_back();
}

void ActingAs::give_back() {
  if (!changed_) return;
  changed_ = false;
  // If a call fails, the process keeps fewer rights, so the next thing that it may not do reports an error.
  if (::seteuid(0) != 0) return;
  [[maybe_unused]] const bool back =
      ::setegid(group_) == 0 && ::setgroups(groups_.size(), groups_.data()) == 0;
}

}  // namespace flor::gc
