// Where a new checkpoint's file is put: the local tier, or the store when there is none or it refuses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/store/store.h"

namespace flor::core {

enum class Tier { store, local };

// Not thread-safe: used by one thread at a time. What it says on stderr is said once per object.
class Tiers {
 public:
  // `local`: the run's directory in the local tier (core/store/local_tier.h); empty: there is none.
  Tiers(RunDir run, fs::path local = {}) : run_(std::move(run)), local_(std::move(local)) {}

  const RunDir& run() const { return run_; }

  // Where to try, in this order, by the durable chain; the directories exist. `bytes`: the expected size (0:
  // not known): a tier without so much room is not tried. Throws std::system_error when neither can be made.
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
