// The way of one thread to one queue: calls that cannot be made now because Redis is away are answered from
// what is known, and those that matter are remembered and made in order when it is back.
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

class QueueLink {
 public:
  // Throws core::UsageError for a bad URL.
  QueueLink(const Place& place, queue::QueueOptions options, Leases& leases);

  // Nothing: Redis is away, `trouble()` says why. Throws core::Error when asking again would not help.
  std::optional<queue::Claim> claim(const std::string& worker, int64_t from, std::optional<int64_t> left);
  // Nothing: remembered; its outcome goes to the leases.
  std::optional<queue::Standing> commit(uint64_t session, const queue::Commit& unit);
  void release(const std::string& segment, const std::string& fence, const std::string& error);
  // Nothing: Redis is away.
  std::optional<queue::Standing> renew(const std::string& segment, const std::string& fence);
  void join(const queue::WorkerInfo& worker);
  void leave(const std::string& worker);

  // Makes the remembered calls, when it is time to try again (`now`: in any case).
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
