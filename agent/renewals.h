// Renews the leases of one replay, on its own thread and connection, so that no other call delays a renewal.
#pragma once

#include <chrono>
#include <optional>

#include "job_thread.h"
#include "leases.h"

namespace flor::agent {

// Renews every 3 s for a lease of 10 s, and then reaps the expired leases of the replay, of all nodes.
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
  bool down_ = false;  // the last round failed, and this was logged
  std::set<std::string> damaged_;  // segments whose damage was logged
  std::chrono::steady_clock::time_point next_;
  JobThread thread_;
};

}  // namespace flor::agent
