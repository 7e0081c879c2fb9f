// What of a run that is to be removed lies in a node's local tier.
#pragma once

#include <optional>
#include <string>

#include "core/store/local_tier.h"
#include "core/store/manifest.h"
#include "core/store/store.h"

namespace flor::gc {

// The run's directory in this node's local tier. As long as it is held, nobody brings files from it.
class HeldTier {
 public:
  // Nothing where the run used no local tier, or has nothing on this node that is this user's. Throws
  // core::Error when checkpoints are just being brought to the store.
  static std::optional<HeldTier> take(const std::string& id, const core::Manifest& manifest);

  // Removes it with all that lies in it. Throws std::system_error that names the path.
  void remove() const;

 private:
  HeldTier(core::fs::path path, core::FileLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  core::fs::path path_;
  core::FileLock lock_;
};

// "/nvme/flor-1000/RUN on node n1", where that node or user has to remove checkpoints; empty where
// none lie.
std::string beyond_reach(const core::RunDir& run, const core::Manifest& manifest);

}  // namespace flor::gc
