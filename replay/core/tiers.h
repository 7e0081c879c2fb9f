// Where a new checkpoint's file is put: the local tier, or the store when there is none or it refuses.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/store.h"

namespace flor::core {

enum class Tier { store, local };

// Not thread-safe: the writer's alone. What it says on stderr is said once per object.
class Tiers {
 public:
  // `local`: the run's directory in the local tier (core/local_tier.h); empty: there is none.
  Tiers(RunDir run, fs::path local = {}) : run_(std::move(run)), local_(std::move(local)) {}

  const RunDir& run() const { return run_; }

  // Calls `write` with the absolute path to write to by the durable chain; its directory exists. When that
  // fails in the local tier, calls it again with the store's. `bytes`: the expected size (0: not known): a
  // tier without so much room is not tried. Returns the tier that took it. Throws what the store's attempt
  // threw.
  Tier write(const std::string& file, std::uint64_t bytes, const std::function<void(const fs::path&)>& write);

  // The same in steps, for a writer that cannot be called back or must not throw (a forked child): where to
  // try, in this order; the directories exist. Throws std::system_error when the store's cannot be made.
  struct Target {
    Tier tier = Tier::store;
    fs::path path;
  };
  std::vector<Target> targets(const std::string& file, std::uint64_t bytes);
  // The local tier's attempt failed with `error` (an errno; 0: none is known), `why` in words.
  void refused(int error, const std::string& why);
  void accepted() { refusals_ = 0; }  // it succeeded

 private:
  bool takes(std::uint64_t bytes);

  RunDir run_;
  fs::path local_;
  bool said_ = false;
  int refusals_ = 0;  // in a row, other than for want of room
};

}  // namespace flor::core
