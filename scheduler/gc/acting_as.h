// Root clears away as the user whose run it is: what that user planted then leads nowhere they could not go.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <vector>

namespace flor::gc {

// As long as it lives, root's process has the rights of the owner of `path`, and of their groups. Any other
// user, and root's own paths, change nothing. Not for processes with threads that need root's rights
// meanwhile. Throws core::Error where root cannot become that user.
class ActingAs {
 public:
  explicit ActingAs(const std::filesystem::path& path);
  ~ActingAs();
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;

 private:
  bool changed_ = false;
  gid_t group_ = 0;
  std::vector<gid_t> groups_;
};

}  // namespace flor::gc
