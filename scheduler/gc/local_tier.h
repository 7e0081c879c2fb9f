// Finds and removes, for `flor gc`, the part of a run that lies in a node's local tier.
#pragma once

#include <optional>
#include <string>

#include "core/store/local_tier.h"
#include "core/store/manifest.h"
#include "core/store/store.h"

namespace flor::gc {

// The run's directory in this node's local tier, under its lock: while the object lives, no agent brings
// files from there to the store.
class HeldTier {
 public:
  // `run`: where the run lies in its store, or lay. Returns nullopt if it used no local tier, or if this node
  // has no directory of it that this user owns. That of the run which this one is a copy of does not count.
  // Throws core::Error if its checkpoints are being brought to the store now.
  static std::optional<HeldTier> take(const core::RunDir& run, const core::Manifest& manifest);

  // Removes the directory with its content. Throws std::system_error, which names the path.
  void remove() const;

 private:
  HeldTier(core::fs::path path, core::FileLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  core::fs::path path_;
  core::FileLock lock_;
};

// Returns where checkpoints lie that only another node or user can remove: "/nvme/flor-1000/RUN on node n1".
// Returns "" if there are none.
std::string beyond_reach(const core::RunDir& run, const core::Manifest& manifest);

}  // namespace flor::gc
