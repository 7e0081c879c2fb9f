// What is wrong with the files of a run, and what replay does about it: `flor check`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/store.h"

namespace flor::results {

struct FileDamage {
  std::string file;         // relative to the run directory
  std::string what;         // names the tensor, where it is one's
  std::string consequence;  // what replay will do
};

struct CheckReport {
  std::vector<FileDamage> damages;
  std::vector<std::string>
      notes;                // worth saying, but no damage: a log that was cut off when its writer was killed
  int64_t checkpoints = 0;  // that were read and verified, whole or not
  int64_t removed = 0;      // on purpose, by --flor-keep or `flor gc`
  std::uint64_t bytes = 0;
};

// Reads every file of the run and verifies every digest. Changes nothing.
CheckReport check_run(const core::RunDir& run);

core::Json to_json(const CheckReport& report);

}  // namespace flor::results
