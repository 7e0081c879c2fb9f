// Chooses the checkpoint that `flor export` writes. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/manifest.h"
#include "core/store/timeline.h"
#include "results/rows/rows.h"

namespace flor::exporting {

struct Chosen {
  // Relative to the run directory.
  std::string file;
  // Scope path.
  std::string at;
  std::string block;
  // State digest.
  std::string state;
};

// Returns the checkpoint at the end of iteration `epoch` of the main loop: that of the iteration, else of the
// only block. `block` names another: `train`, `@iteration`, or, if several have the name, a longer form
// (`train#1`, `step=3/optimize#0`). Throws core::UsageError if there is none at that epoch (naming the
// nearest that have one), or several.
Chosen choose(const core::Manifest& manifest, const core::Timeline& timeline, int64_t epoch,
              const std::string& block);

struct Best {
  int64_t epoch = 0;
  double value = 0;
};

// Returns the iteration of the main loop whose last row of that name is the smallest, or the largest; the
// first one if several are equal. Throws core::UsageError if no iteration has such a row with a finite
// number.
Best best_epoch(const core::Manifest& manifest, const std::vector<results::Row>& rows,
                const std::string& name, bool largest);

}  // namespace flor::exporting
