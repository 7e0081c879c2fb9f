// Checks the files of a run for `flor check`, and states what replay does about damage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/store.h"

namespace flor::results {

struct FileDamage {
  // Relative to the run directory.
  std::string file;
  // Names the tensor if one is damaged.
  std::string what;
  // What replay will do.
  std::string consequence;
};

struct CheckReport {
  std::vector<FileDamage> damages;
  // Facts that are no damage, such as a log that was cut off when its writer was killed.
  std::vector<std::string> notes;
  // The number of checkpoints that were read and verified, damaged or not.
  int64_t checkpoints = 0;
  // Removed on purpose, by --flor-keep or `flor gc`.
  int64_t removed = 0;
  std::uint64_t bytes = 0;
};

// Reads every file of the run and verifies every digest. Changes nothing.
CheckReport check_run(const core::RunDir& run);

core::Json to_json(const CheckReport& report);

}  // namespace flor::results
