#include "core/checkpoint/listing.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>

namespace flor::core {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

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
  std::error_code ignored;
  for (const auto& block : fs::directory_iterator(run.checkpoints(), ignored)) {
    const std::string folder = (run.checkpoints().filename() / block.path().filename()).string() + "/";
    const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(block.path().c_str()));
    while (const dirent* entry = directory ? ::readdir(directory.get()) : nullptr) {
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
    if (::fstatat(directory, name, &info, 0) == 0) out.bytes += static_cast<std::uint64_t>(info.st_size);
    out.files.push_back(std::move(path));
  });
  std::sort(out.files.begin(), out.files.end());
  return out;
}

}  // namespace flor::core
