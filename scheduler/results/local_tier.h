// Checkpoints that have not come from the recording node's local tier to the store yet.
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
  std::string node, path;         // path empty: the run used none
  std::set<std::string> waiting;  // files that lie, or on another node may lie, in the local tier only
  std::set<std::string> lost;     // on this node: files that lie in neither tier
};

// `timeline`: its rows name the files that were written to the local tier.
LocalTier local_tier_of(const core::RunDir& run, const core::Manifest& manifest,
                        const core::Timeline& timeline);

// "3 checkpoints still lie in the local tier of node n1 (/nvme/flor-1000/RUN) …"; empty where none does.
std::string local_tier_text(const LocalTier& tier);

core::Json to_json(const LocalTier& tier);

}  // namespace flor::results
