// Root clears away as the user whose run it is: what that user planted then leads nowhere they could not go.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <vector>

namespace flor::gc {

// As long as it lives, root's process has the rights of the owner of `path`, and of their groups. Any other
// user, root of a container (core::is_root()), and root's own paths, change nothing. Not for processes with
// threads that need root's rights meanwhile. Throws core::Error where root cannot become that user, or cannot
// tell who it is.
class ActingAs {
 public:
  explicit ActingAs(const std::filesystem::path& path);
  // The same for the owner of an open file or directory, which `path` names in messages.
  ActingAs(int descriptor, const std::filesystem::path& path);
  ~ActingAs();
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;

 private:
  void give_back();
  void become(uid_t owner, const std::filesystem::path& path);

  bool changed_ = false;
  gid_t group_ = 0;
  std::vector<gid_t> groups_;
};

}  // namespace flor::gc
