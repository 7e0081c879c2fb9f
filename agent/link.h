// The thread that makes the calls to Redis and to the store for all sessions of one replay, or those to the
// store for one recording. If a call hangs, the sessions of other replays and recordings go on.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "core/base/backoff.h"
#include "job_thread.h"
#include "leases.h"
#include "queue/queue.h"

namespace flor::agent {

// The way to the queue of a replay, also while Redis is away: commits and releases that cannot be made then
// are remembered, and made in order when Redis is back. Not thread-safe. Between two tries after a failure it
// pauses for 0.1 to 5 s. A call during the pause behaves as if Redis were away, and does not wait.
class QueueLink {
 public:
  // `leases` must outlive it. Throws core::UsageError for a bad URL.
  QueueLink(const Place& place, queue::QueueOptions options, Leases& leases);

  // Returns nullopt if Redis is away; trouble() tells why. Throws core::Error if asking again would not help.
  std::optional<queue::Claim> claim(const std::string& worker, int64_t from, std::optional<int64_t> left);
  // Returns nullopt if the call is only remembered. Its result goes to the leases later.
  std::optional<queue::Standing> commit(uint64_t session, const queue::Commit& unit);
  void release(const std::string& segment, const std::string& fence, const std::string& error);
  // Returns nullopt if Redis is away.
  std::optional<queue::Standing> renew(const std::string& segment, const std::string& fence);
  void join(const queue::WorkerInfo& worker);
  void leave(const std::string& worker);

  // Makes the remembered calls, unless it pauses after a failure. With `now`, ends the pause.
  void retry(bool now = false);
  bool pending() const { return !remembered_.empty(); }
  const std::string& trouble() const { return trouble_; }

 private:
  struct Release {
    std::string segment, fence, error;
  };
  struct Remembered {
    uint64_t session = 0;
    std::variant<queue::Commit, Release> call;
  };
  bool attempt(const std::function<void()>& call);
  bool flush();
  void make(const Remembered& remembered);
  void failed(const std::string& why);

  Place place_;
  Leases& leases_;
  queue::Queue queue_;
  std::deque<Remembered> remembered_;
  std::string trouble_;
  core::Backoff pauses_;
  std::chrono::steady_clock::time_point retry_at_;
};

// Only the main thread creates and ends links, and counts their sessions.
class Link {
 public:
  // A link of a recording: it has nothing to do with Redis.
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

 private:
  JobThread::Pause tend();

  std::unique_ptr<QueueLink> queue_;
  JobThread jobs_;
  std::unique_ptr<Renewals> renewals_;
};

}  // namespace flor::agent
