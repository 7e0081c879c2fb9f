#include "core/checkpoint_files.h"

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

// By the directory's descriptor: a run may have hundreds of thousands, and each path would be walked anew.
void add(const fs::path& block, const std::string& folder, CheckpointFiles& out) {
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(block.c_str()));
  if (!directory) return;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name;
    struct stat info = {};
    if (!is_checkpoint(name)) continue;
    if (::fstatat(::dirfd(directory.get()), name.c_str(), &info, 0) == 0)
      out.bytes += static_cast<std::uint64_t>(info.st_size);
    out.files.push_back(folder + name);
  }
}

}  // namespace

CheckpointFiles checkpoint_files(const RunDir& run) {
  CheckpointFiles out;
  std::error_code ignored;
  for (const auto& block : fs::directory_iterator(run.checkpoints(), ignored)) {
    const fs::path folder = run.checkpoints().filename() / block.path().filename();
    add(block.path(), folder.string() + "/", out);
  }
  std::sort(out.files.begin(), out.files.end());
  return out;
}

}  // namespace flor::core
