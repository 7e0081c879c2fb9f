#include "results/unfinished.h"

#include <exception>
#include <string>
#include <system_error>
#include <vector>

namespace flor::results {
namespace {

namespace fs = core::fs;

constexpr const char* kTemporary = ".tmp.";

// `.NAME.tmp.PID.N`, as DurableFile names them.
std::vector<fs::path> temporaries_in(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(directory, gone)) {
    const std::string name = entry.path().filename().string();
    if (name.front() == '.' && name.find(kTemporary) != std::string::npos) found.push_back(entry.path());
  }
  return found;
}

// `.WORKER.json.tmp.PID.N`: of a worker that lives its lock is taken.
bool is_of_a_living_worker(const fs::path& file) {
  const std::string name = file.filename().string();
  const std::string of = fs::path(name.substr(1, name.find(kTemporary) - 1)).stem().string();
  return !core::FileLock::try_take(file.parent_path() / (of + ".lock"));
}

}  // namespace

void remove_unfinished(const core::ReplayDir& replay) noexcept {
  try {
    std::error_code ignored;
    for (const auto& file : temporaries_in(replay.units())) fs::remove(file, ignored);
    for (const auto& file : temporaries_in(replay.workers()))
      if (!is_of_a_living_worker(file)) fs::remove(file, ignored);
  } catch (const std::exception&) {
  }
}

}  // namespace flor::results
