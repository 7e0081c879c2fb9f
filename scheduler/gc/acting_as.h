// Gives root the rights of the user whose files `flor gc` removes. So a link that this user planted leads to
// no place that they could not reach themselves.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <vector>

namespace flor::gc {

// While the object lives, root's process has the rights of the owner of `path` and of their groups. Does
// nothing for other users, for root of a container (core::is_root()), and for paths that root owns.
// Changes the whole process: no other thread may need root's rights meanwhile. Throws core::Error if root
// cannot become the owner, or cannot find out who it is.
class ActingAs {
 public:
  explicit ActingAs(const std::filesystem::path& path);
  // The same for the owner of an open file or directory. Messages show it as `path`.
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
