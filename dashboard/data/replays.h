// What the page shows of a replay. Made once for all who look at it, since a replay of ten thousand units
// takes a quarter of a second. Who looks again is sent what is new.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/store/store.h"
#include "dashboard/data/work_seen.h"

namespace flor::dashboard {

// Returns what `flor show RUN/REPLAY --json` prints, with the number of the plan's units in the place of the
// units (docs/dashboard.md). Throws core::UsageError where there is no such replay, core::Error for what is
// damaged.
core::Json replay_data(const core::RunDir& run, const std::string& id);

// The replays that were asked for last. Thread-safe.
class ReplayCache {
 public:
  // Takes the seconds from `now`. Where a text has more than `largest` bytes, its values are not kept: they
  // take many times the memory.
  explicit ReplayCache(std::function<double()> now = core::monotonic_seconds,
                       std::size_t largest = 16'000'000)
      : now_(std::move(now)), largest_(largest) {}

  // Returns replay_data() as text, with its `version`. It is made anew after some seconds: a replay that goes
  // on shows the present time. Of one that is over it is made anew at once where files of the run changed.
  // `have`: the version that the viewer has. Where it is one of the last few, units that it holds are left
  // out (rest_of()), else all are there, as they are in a large text.
  std::shared_ptr<const std::string> text_of(const core::RunDir& run, const std::string& id,
                                             const std::string& have = "");

  // Returns the seconds that the last text took to make, or 0 where that was some time ago. Who tells viewers
  // that there is news must wait a multiple of it.
  double seconds() const;

 private:
  struct Version {
    std::string name;
    WorkSeen seen;
  };
  struct Made {
    std::string signature;
    // null: the text is large.
    core::Json data;
    // The newest last: that of `data`.
    std::deque<Version> versions;
    // By the version that the viewer has; "": the whole.
    std::map<std::string, std::shared_ptr<const std::string>> texts;
    double at = 0, seconds = 0;
    bool goes_on = false;
  };
  static std::shared_ptr<const std::string> text_for(Made& made, const std::string& have);
  // Returns what is known of the replay, if it may still be shown.
  Made* kept(const std::string& key, const core::RunDir& run);
  Made& make(const std::string& key, const core::RunDir& run, const std::string& id);
  void forget_oldest();

  const std::function<double()> now_;
  const std::size_t largest_;
  // Tells the versions of this server from those of one that ran before.
  const std::string birth_ = core::new_id();
  // Held while a text is made, so that no two make the same one.
  std::mutex making_;
  std::uint64_t number_ = 0;
  std::map<std::string, Made> made_;
  mutable std::mutex last_mutex_;
  double last_at_ = 0, last_seconds_ = 0;
};

}  // namespace flor::dashboard
