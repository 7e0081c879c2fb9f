// The leases that this agent's workers hold.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/store/store.h"
#include "queue/queue.h"

namespace flor::agent {

// Which queue: a replay, and the Redis that coordinates it.
struct Place {
  std::string redis;
  core::ReplayDir replay;
  std::string key() const { return redis + " " + replay.path.string(); }
};

// Thread-safe; no call waits for anything.
class Leases {
 public:
  struct Lease {
    std::string place;  // its key
    std::string worker;
    queue::Segment segment;
    queue::Standing standing;
    std::chrono::steady_clock::time_point heard;
  };

  // `length`: of a lease. A session counts as alive for two fifths of it after it was heard from: a frozen
  // worker loses its segment although its agent lives.
  explicit Leases(std::chrono::milliseconds length) : length_(length) {}

  void hold(uint64_t session, const Place& place, const std::string& worker, const queue::Segment& segment);
  void drop(uint64_t session);

  // The session's worker gave a sign of life.
  void heard(uint64_t session);
  // What is known of the session's lease; nothing when it holds none.
  std::optional<queue::Standing> standing(uint64_t session) const;
  // What a commit or renewal with this token found.
  void update(uint64_t session, const std::string& fence, const queue::Standing& standing);
  // Those of a place that are to be renewed, by session.
  std::vector<std::pair<uint64_t, Lease>> due(const std::string& place) const;

 private:
  const std::chrono::milliseconds length_;
  mutable std::mutex mutex_;
  std::map<uint64_t, Lease> leases_;
};

}  // namespace flor::agent
