#include "gc/local_tier.h"

#include "core/base/error.h"
#include "core/config/settings.h"
#include "core/store/timeline.h"
#include "gc/remove_tree.h"
#include "results/local_tier.h"

namespace flor::gc {
namespace {

namespace fs = core::fs;

std::optional<core::LocalRun> within_reach(const core::RunDir& run, const core::Manifest& manifest) {
  if (manifest.local.empty() || manifest.host != core::node_name()) return std::nullopt;
  try {
    auto local = core::open_local_run(manifest.local);
    if (core::is_same_run(local.home, run)) return local;
  } catch (const std::exception&) {
    // The directory is gone, or belongs to another user.
  }
  return std::nullopt;
}

}  // namespace

std::optional<HeldTier> HeldTier::take(const core::RunDir& run, const core::Manifest& manifest) {
  const auto local = within_reach(run, manifest);
  if (!local) return std::nullopt;
  auto lock = core::FileLock::try_take(local->lock());
  if (!lock) {
    throw core::Error("run " + run.id() + " is left as it is: its checkpoints are being brought from " +
                      local->path.string() + " to the store; try again when they are there");
  }
  return HeldTier(local->path, std::move(*lock));
}

void HeldTier::remove() const {
  remove_tree(path_);
}

std::string beyond_reach(const core::RunDir& run, const core::Manifest& manifest) {
  if (manifest.local.empty() || within_reach(run, manifest)) return "";
  try {
    if (results::local_tier_of(run, manifest, core::read_timeline(run.timeline())).waiting.empty()) return "";
  } catch (const core::Error&) {
    // The timeline is damaged, so there may be checkpoints.
  }
  return manifest.local + " on node " + manifest.host;
}

}  // namespace flor::gc
