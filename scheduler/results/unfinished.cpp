#include "results/unfinished.h"

#include <exception>
#include <system_error>

#include "core/files/durable.h"

namespace flor::results {
namespace {

namespace fs = core::fs;

// Temporary files of WORKER.json: a live worker holds its lock.
bool is_of_a_living_worker(const fs::path& file) {
  return core::lock_held(core::target_of(file).replace_extension(".lock")) != false;
}

}  // namespace

void remove_unfinished(const core::ReplayDir& replay) noexcept {
  try {
    std::error_code ignored;
    for (const auto& file : core::temporaries_in(replay.units())) fs::remove(file, ignored);
    for (const auto& file : core::temporaries_in(replay.workers()))
      if (!is_of_a_living_worker(file)) fs::remove(file, ignored);
  } catch (const std::exception&) {
  }
}

}  // namespace flor::results
