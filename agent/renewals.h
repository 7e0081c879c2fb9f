// Renews the leases of one replay on a thread and a connection of their own.
#pragma once

#include <chrono>
#include <optional>

#include "job_thread.h"
#include "leases.h"

namespace flor::agent {

// With a lease of 10 s, every 3 s. Leases that ran out, of whatever node, are reaped then.
class Renewals {
 public:
  // `leases` must outlive it.
  Renewals(const Place& place, queue::QueueOptions options, Leases& leases);

  // False while a round goes on.
  bool end_if_resting() { return thread_.end_if_resting(); }

 private:
  JobThread::Pause tend();
  void round();

  const Place place_;
  const queue::QueueOptions options_;
  Leases& leases_;
  // Of the thread alone.
  std::optional<queue::Queue> queue_;
  bool down_ = false;  // said already
  std::chrono::steady_clock::time_point next_;
  JobThread thread_;
};

}  // namespace flor::agent
