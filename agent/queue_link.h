// Gives the thread of a link access to its queue, also while Redis is away. Commits and releases that cannot
// be made then are remembered, and made in order when Redis is back.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "core/base/backoff.h"
#include "leases.h"
#include "queue/queue.h"

namespace flor::agent {

// Not thread-safe. Between two tries after a failure it pauses for 0.1 to 5 s. A call during the pause
// behaves as if Redis were away, and does not wait.
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

}  // namespace flor::agent
