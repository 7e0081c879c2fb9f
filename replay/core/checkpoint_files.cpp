#include "core/checkpoint_files.h"

#include <algorithm>

namespace flor::core {

CheckpointFiles checkpoint_files(const RunDir& run) {
  CheckpointFiles out;
  std::error_code ignored;
  for (const auto& block : fs::directory_iterator(run.checkpoints(), ignored)) {
    for (const auto& file : fs::directory_iterator(block.path(), ignored)) {
      const std::string name = file.path().filename().string();
      if (name.front() == '.' || file.path().extension() != ".safetensors") continue;
      const auto size = file.file_size(ignored);
      if (!ignored) out.bytes += size;
      out.files.push_back(file.path().lexically_relative(run.path).string());
    }
  }
  std::sort(out.files.begin(), out.files.end());
  return out;
}

}  // namespace flor::core
