// What the sessions of one replay, or of one recording, share: a thread that makes their calls to Redis and
// to the store. If one of them hangs, the sessions of other replays and recordings go on.
#pragma once

#include <memory>
#include <string>

#include "job_thread.h"
#include "leases.h"
#include "queue_link.h"
#include "record_link.h"
#include "renewals.h"

namespace flor::agent {

// Made, counted and ended by the main thread.
class Link {
 public:
  // Of a recording.
  Link();
  // Of a replay. Throws core::UsageError for a bad URL.
  Link(const Place& place, queue::QueueOptions options, Leases& leases);

  void post(JobThread::Job job) { jobs_.post(std::move(job)); }
  // Makes the calls that are remembered, whether it is time to try again or not.
  void retry_now();
  // Ends its threads where no session uses them and nothing is left to do; else false.
  bool end_if_unused();

  int sessions = 0;

  // Of jobs alone.
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
