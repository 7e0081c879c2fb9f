// Decides how often the spooler tries a store that is full.
// Motivation: a full store often stays full, and each try asks the file server.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>

#include "core/base/backoff.h"

namespace flor::agent {

// Of each run's directory in a local tier. Times are core::monotonic_seconds(). Not thread-safe.
class RoomWaits {
 public:
  // Call when the store had no room for a file. `live`: whether the run is still recorded. The next try is in
  // 5 s, and each further one after twice that time, up to 5 min.
  void found_full(const std::filesystem::path& run, bool live, double now) {
    Wait& wait = waits_[run];
    wait.live = live;
    wait.until = now + std::chrono::duration<double>(wait.pauses.next()).count();
  }
  // Call when a file found room, or none was in want of it. Call found_full() after that.
  void found_room(const std::filesystem::path& run) { waits_.erase(run); }

  bool was_full(const std::filesystem::path& run) const { return waits_.count(run) != 0; }
  // An end of the recording ends the wait: a smaller room will do now.
  bool waits(const std::filesystem::path& run, bool live, double now) const {
    const auto wait = waits_.find(run);
    return wait != waits_.end() && wait->second.live == live && now < wait->second.until;
  }

 private:
  struct Wait {
    core::Backoff pauses{std::chrono::seconds(5), std::chrono::minutes(5)};
    double until = 0;
    bool live = false;
  };
  std::map<std::filesystem::path, Wait> waits_;
};

}  // namespace flor::agent
