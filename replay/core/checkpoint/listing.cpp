#include "core/checkpoint/listing.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "core/files/directory.h"
#include "core/files/next_entry.h"

namespace flor::core {
namespace {

// What is not there, is no directory or is closed to this user holds no checkpoints. Of other errors no one
// knows.
bool holds_nothing(int error) {
  return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EACCES || error == EPERM;
}

// Returns null for what is no directory, or a link: it could lead to files that belong to no run. Throws
// std::system_error where a file server refuses.
Directory open_seen(int parent, const char* name) {
  Directory out = open_directory(parent, name);
  if (!out && !holds_nothing(errno))
    throw std::system_error(errno, std::generic_category(),
                            std::string("cannot read the checkpoints in ") + name);
  return out;
}

bool is_checkpoint(const std::string& name) {
  constexpr std::string_view suffix = ".safetensors";
  return name.front() != '.' && name.size() > suffix.size() &&
         name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
}

// Calls `take` for each checkpoint with its path relative to the run directory, the descriptor of its
// directory, and its name there. A run may have hundreds of thousands, and resolving each full path would
// cost time.
template <class Take>
void each_checkpoint(const RunDir& run, Take take) {
  const Directory all = open_seen(AT_FDCWD, run.checkpoints().c_str());
  while (const dirent* block = all ? next_entry(all.get()) : nullptr) {
    const std::string name_of_block = block->d_name;
    if (name_of_block == "." || name_of_block == "..") continue;
    const std::string folder = (run.checkpoints().filename() / name_of_block).string() + "/";
    const Directory directory = open_seen(::dirfd(all.get()), block->d_name);
    while (const dirent* entry = directory ? next_entry(directory.get()) : nullptr) {
      const std::string name = entry->d_name;
      if (is_checkpoint(name)) take(folder + name, ::dirfd(directory.get()), entry->d_name);
    }
  }
}

}  // namespace

std::vector<std::string> checkpoint_names(const RunDir& run) {
  std::vector<std::string> out;
  each_checkpoint(run, [&](std::string path, int, const char*) { out.push_back(std::move(path)); });
  std::sort(out.begin(), out.end());
  return out;
}

CheckpointFiles checkpoint_files(const RunDir& run) {
  CheckpointFiles out;
  each_checkpoint(run, [&](std::string path, int directory, const char* name) {
    struct stat info = {};
    if (::fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0)
      out.bytes += static_cast<std::uint64_t>(info.st_size);
    out.files.push_back(std::move(path));
  });
  std::sort(out.files.begin(), out.files.end());
  return out;
}

}  // namespace flor::core
