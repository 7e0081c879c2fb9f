// The leases that this agent's workers hold: the table that all sessions share, and the thread that renews
// those of one replay.
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
#include "job_thread.h"
#include "queue/queue.h"

namespace flor::agent {

// The address of a queue: a replay, and the Redis that coordinates it.
struct Place {
  std::string redis;
  core::ReplayDir replay;
  std::string key() const { return redis + " " + replay.path.string(); }
};

// Thread-safe. No call waits for Redis or the store.
class Leases {
 public:
  struct Lease {
    std::string place;  // Place::key()
    std::string worker;
    queue::Segment segment;
    queue::Standing standing;
    std::chrono::steady_clock::time_point heard;
  };

  // `length` is that of a lease. A session counts as alive for two fifths of this time after its last sign of
  // life. So a frozen worker loses its segment, although its agent lives.
  explicit Leases(std::chrono::milliseconds length) : length_(length) {}

  void hold(uint64_t session, const Place& place, const std::string& worker, const queue::Segment& segment);
  void drop(uint64_t session);

  // Notes a sign of life of the session's worker.
  void heard(uint64_t session);
  // Returns the known state of the session's lease; nullopt if it holds none.
  std::optional<queue::Standing> standing(uint64_t session) const;
  // Notes the result of a commit or a renewal with this token. Ignored if the session now holds another
  // token.
  void update(uint64_t session, const std::string& fence, const queue::Standing& standing);
  // Returns the leases of a place that must be renewed, with their sessions: not lost, and of a living
  // worker.
  std::vector<std::pair<uint64_t, Lease>> due(const std::string& place) const;

 private:
  const std::chrono::milliseconds length_;
  mutable std::mutex mutex_;
  std::map<uint64_t, Lease> leases_;
};

// Renews the leases of one replay on its own thread and connection, so that no other call delays a renewal:
// every 3 s for a lease of 10 s, and then reaps the expired leases of the replay, of all nodes.
class Renewals {
 public:
  // `leases` must outlive it.
  Renewals(const Place& place, queue::QueueOptions options, Leases& leases);

  // Tells the thread to end. Does nothing, and returns false, during a round.
  bool end_if_resting() { return thread_.end_if_resting(); }

 private:
  JobThread::Pause tend();
  void round();
  void renew(uint64_t session, const Leases::Lease& lease);

  const Place place_;
  const queue::QueueOptions options_;
  Leases& leases_;
  // For the thread only.
  std::optional<queue::Queue> queue_;
  bool down_ = false;              // the last round failed, and this was logged
  std::set<std::string> damaged_;  // segments whose damage was logged
  std::chrono::steady_clock::time_point next_;
  JobThread thread_;
};

}  // namespace flor::agent
