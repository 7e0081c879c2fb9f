// Chooses where a new checkpoint is written: the local tier, or the store if there is no local tier or it
// refuses.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/store/store.h"
#include "core/tier/used_up_quota.h"

namespace flor::core {

enum class Tier { store, local };

// Not thread-safe: one thread at a time. Prints each warning once per object.
class Tiers {
 public:
  // `local`: the run's directory in the local tier (core/store/local_tier.h). Empty: there is none.
  Tiers(RunDir run, fs::path local = {}) : run_(std::move(run)), local_(std::move(local)) {}

  const RunDir& run() const { return run_; }

  // Tells how many bytes of memory this process may still take. What waits in a local tier in memory (tmpfs)
  // then takes at most a third of that and of itself together: the rest is training's.
  void measure_memory_by(std::function<std::uint64_t()> left) { memory_left_ = std::move(left); }

  // Takes the seconds from `now` instead of monotonic_seconds(). Call first.
  void measure_time_by(std::function<double()> now) { quota_ = UsedUpQuota(std::move(now)); }

  // A place to try. The file is written there durably (core/files/durable.h). Its directory exists.
  struct Target {
    Tier tier = Tier::store;
    fs::path path;
  };
  // Returns the places to try, in this order. `bytes`: expected size (0: unknown); a place without the room
  // for it (core/tier/room.h) is left out. Throws Error if none is left, and std::system_error if no
  // directory can be made.
  std::vector<Target> targets(const std::string& file, std::uint64_t bytes);
  // Records that writing to the local tier failed. `error`: an errno, 0 if unknown. `why`: in words.
  void refused(int error, const std::string& why);
  // Records that a file of `bytes` bytes found the store full. Where the file system has room for it all the
  // same, this user's quota of bytes or of files is used up: from now on a file goes there only where three
  // times its size can be allocated, and some files made (core/tier/used_up_quota.h).
  void store_was_full(std::uint64_t bytes);
  // Records that writing to the local tier succeeded.
  void accepted() { refusals_ = 0; }

 private:
  bool takes(std::uint64_t bytes);
  std::string why_not_in_memory(std::uint64_t bytes) const;
  std::string why_not_the_store(const fs::path& directory, std::uint64_t bytes);

  RunDir run_;
  fs::path local_;
  std::function<std::uint64_t()> memory_left_;
  bool said_ = false;
  UsedUpQuota quota_;
  // Failures in a row, except for lack of room.
  int refusals_ = 0;
};

}  // namespace flor::core
