// Which checkpoint is exported. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/manifest.h"
#include "core/store/timeline.h"
#include "results/rows.h"

namespace flor::exporting {

struct Chosen {
  std::string file;  // relative to the run directory
  std::string at;    // scope path
  std::string block;
  std::string state;  // digest
};

// The checkpoint at the end of iteration `epoch` of the main loop: the iteration's, else the only block's.
// `block` names another: `train`, `@iteration`, or, where there are several of a name, what tells them apart
// (`train#1`, `step=3/optimize#0`). Throws core::UsageError: there is none at that epoch (it names the
// nearest that have one), or several.
Chosen choose(const core::Manifest& manifest, const core::Timeline& timeline, int64_t epoch,
              const std::string& block);

struct Best {
  int64_t epoch = 0;
  double value = 0;
};

// The iteration of the main loop whose last row of that name is the smallest, or largest; of equals the
// first. Throws core::UsageError where no iteration has a row of the name that holds a finite number.
Best best_epoch(const core::Manifest& manifest, const std::vector<results::Row>& rows,
                const std::string& name, bool largest);

}  // namespace flor::exporting
