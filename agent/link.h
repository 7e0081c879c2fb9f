// The thread that makes the calls to Redis and to the store for all sessions of one replay, or of one
// recording. If a call hangs, the sessions of other replays and recordings go on.
#pragma once

#include <memory>
#include <string>

#include "job_thread.h"
#include "leases.h"
#include "queue_link.h"
#include "record_link.h"
#include "renewals.h"

namespace flor::agent {

// Only the main thread creates and ends links, and counts their sessions.
class Link {
 public:
  // A link of a recording.
  Link();
  // A link of a replay. Throws core::UsageError for a bad URL.
  Link(const Place& place, queue::QueueOptions options, Leases& leases);

  void post(JobThread::Job job) { jobs_.post(std::move(job)); }
  // Makes the remembered calls now, without waiting for the next try.
  void retry_now();
  // Tells its threads to end, if no session uses them and no work is left. Else returns false.
  bool end_if_unused();

  int sessions = 0;  // that use this link

  // For the jobs of this link only.
  QueueLink& queue() { return *queue_; }
  RecordLink& records() { return records_; }

 private:
  JobThread::Pause tend();

  std::unique_ptr<QueueLink> queue_;
  RecordLink records_;
  JobThread jobs_;
  std::unique_ptr<Renewals> renewals_;
};

}  // namespace flor::agent
