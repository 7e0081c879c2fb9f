#include "results/local_tier.h"

#include <system_error>

#include "core/config/settings.h"
#include "core/store/timeline.h"

namespace flor::results {

using core::field;
using core::fs::path;

LocalTier local_tier_of(const core::RunDir& run, const core::Manifest& manifest,
                        const core::Timeline& timeline) {
  LocalTier out{manifest.host, manifest.local, {}, {}};
  if (out.path.empty()) return out;
  const bool here = out.node == core::node_name();
  std::error_code ignored;
  for (const auto* row : core::kept_checkpoints(timeline)) {
    const auto file = field<std::string>(*row, "file", "");
    if (file.empty() || field<std::string>(*row, "tier", "") != "local") continue;
    if (core::fs::exists(run.path / file, ignored)) continue;
    const bool lies_there = !here || core::fs::exists(path(out.path) / file, ignored);
    // Look into the store again: an agent may have brought the file since the first look.
    if (!lies_there && core::fs::exists(run.path / file, ignored)) continue;
    (lies_there ? out.waiting : out.lost).insert(file);
  }
  return out;
}

std::string local_tier_text(const LocalTier& tier) {
  if (tier.waiting.empty()) return "";
  const bool one = tier.waiting.size() == 1;
  return std::to_string(tier.waiting.size()) + (one ? " checkpoint still lies" : " checkpoints still lie") +
         " in the local tier of node " + tier.node + " (" + tier.path + "): its flor-agent brings " +
         (one ? "it" : "them") + " to the store";
}

core::Json to_json(const LocalTier& tier) {
  return {
      {"node", tier.node}, {"path", tier.path}, {"waiting", tier.waiting.size()}, {"lost", tier.lost.size()}};
}

}  // namespace flor::results
