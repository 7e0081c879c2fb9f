// What the page shows of a replay. Made once for all who look at it, since a replay of ten thousand units
// takes a quarter of a second.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/store/store.h"

namespace flor::dashboard {

// Returns what `flor show RUN/REPLAY --json` prints, with the number of the plan's units in the place of the
// units (docs/dashboard.md). Throws core::UsageError where there is no such replay, core::Error for what is
// damaged.
core::Json replay_data(const core::RunDir& run, const std::string& id);

// The replays that were asked for last. Thread-safe.
class ReplayCache {
 public:
  // Takes the seconds from `now`.
  explicit ReplayCache(std::function<double()> now = core::monotonic_seconds) : now_(std::move(now)) {}

  // Returns replay_data() as text. It is made anew after some seconds: a replay that goes on shows the
  // present time. Of one that is over it is made anew at once where files of the run changed.
  std::shared_ptr<const std::string> text_of(const core::RunDir& run, const std::string& id);

  // Returns the seconds that the last text took to make, or 0 where that was some time ago. Who tells viewers
  // that there is news must wait a multiple of it.
  double seconds() const;

 private:
  struct Made {
    std::string signature;
    std::shared_ptr<const std::string> text;
    double at = 0, seconds = 0;
    bool goes_on = false;
  };
  const std::function<double()> now_;
  // Held while a text is made, so that no two make the same one.
  std::mutex making_;
  std::map<std::string, Made> made_;
  mutable std::mutex last_mutex_;
  double last_at_ = 0, last_seconds_ = 0;
};

}  // namespace flor::dashboard
