#include "gc/acting_as.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace flor::gc {
namespace {

constexpr gid_t no_group = 65534;

// Of a user that no one knows, nothing but the user remains.
bool take_groups(uid_t user) {
  const passwd* entry = ::getpwuid(user);
  if (entry == nullptr) return ::setgroups(0, nullptr) == 0 && ::setegid(no_group) == 0;
  return ::initgroups(entry->pw_name, entry->pw_gid) == 0 && ::setegid(entry->pw_gid) == 0;
}

}  // namespace

ActingAs::ActingAs(const std::filesystem::path& path) {
  struct stat info = {};
  if (::geteuid() != 0 || ::lstat(path.c_str(), &info) != 0 || info.st_uid == 0) return;
  group_ = ::getegid();
  groups_.resize(static_cast<std::size_t>(::getgroups(0, nullptr)));
  ::getgroups(static_cast<int>(groups_.size()), groups_.data());
  changed_ = true;
  if (take_groups(info.st_uid) && ::seteuid(info.st_uid) == 0) return;
  const int error = errno;
  this->~ActingAs();
  throw core::Error(path.string() + " is left as it is: root cannot act as its owner, user " +
                    std::to_string(info.st_uid) + " (" + std::strerror(error) + ")");
}

ActingAs::~ActingAs() {
  if (!changed_) return;
  changed_ = false;
  // Where one of these fails, what comes next has fewer rights, and says so.
  if (::seteuid(0) != 0) return;
  [[maybe_unused]] const bool back =
      ::setegid(group_) == 0 && ::setgroups(groups_.size(), groups_.data()) == 0;
}

}  // namespace flor::gc
