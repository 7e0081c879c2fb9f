// Finds checkpoints that are still in the local tier of the recording node, not in the store.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/manifest.h"
#include "core/store/store.h"
#include "core/store/timeline.h"

namespace flor::results {

struct LocalTier {
  // Empty path: the run used no local tier.
  std::string node, path;
  // Files only in the local tier. On another node: files that may be there.
  std::set<std::string> waiting;
  // On this node: files in neither tier.
  std::set<std::string> lost;
};

// `timeline`: its rows name the files that were written to the local tier.
LocalTier local_tier_of(const core::RunDir& run, const core::Manifest& manifest,
                        const core::Timeline& timeline);

// Returns "3 checkpoints still lie in the local tier of node n1 (/nvme/flor-1000/RUN) …". Empty if none does.
std::string local_tier_text(const LocalTier& tier);

core::Json to_json(const LocalTier& tier);

}  // namespace flor::results
