#include "leases.h"

#include <algorithm>
#include <exception>
#include <string>

#include "log.h"

namespace flor::agent {
namespace {

std::chrono::milliseconds period_of(const queue::QueueOptions& options) {
  return options.lease * 3 / 10;
}

}  // namespace

void Leases::hold(uint64_t session, const Place& place, const std::string& worker,
                  const queue::Segment& segment) {
  const std::lock_guard lock(mutex_);
  leases_[session] = {
      place.key(), worker, segment, {false, false, segment.hi}, std::chrono::steady_clock::now()};
}

void Leases::drop(uint64_t session) {
  const std::lock_guard lock(mutex_);
  leases_.erase(session);
}

void Leases::heard(uint64_t session) {
  const std::lock_guard lock(mutex_);
  const auto at = leases_.find(session);
  if (at != leases_.end()) at->second.heard = std::chrono::steady_clock::now();
}

std::optional<queue::Standing> Leases::standing(uint64_t session) const {
  const std::lock_guard lock(mutex_);
  const auto at = leases_.find(session);
  if (at == leases_.end()) return std::nullopt;
  return at->second.standing;
}

void Leases::update(uint64_t session, const std::string& fence, const queue::Standing& standing) {
  const std::lock_guard lock(mutex_);
  const auto at = leases_.find(session);
  if (at == leases_.end() || at->second.segment.fence != fence) return;
  if (standing.lost) {
    at->second.standing.lost = true;
  } else {
    at->second.standing.hi = standing.hi;
  }
}

std::vector<std::pair<uint64_t, Leases::Lease>> Leases::due(const std::string& place) const {
  const std::lock_guard lock(mutex_);
  const auto alive = std::chrono::steady_clock::now() - length_ * 2 / 5;
  std::vector<std::pair<uint64_t, Lease>> out;
  for (const auto& [session, lease] : leases_) {
    if (lease.place == place && lease.heard >= alive && !lease.standing.lost)
      out.emplace_back(session, lease);
  }
  return out;
}

Renewals::Renewals(const Place& place, queue::QueueOptions options, Leases& leases)
    : place_(place),
      options_(options),
      leases_(leases),
      next_(std::chrono::steady_clock::now() + period_of(options)),
      thread_([this] { return tend(); }, period_of(options)) {}

JobThread::Pause Renewals::tend() {
  round();
  const auto now = std::chrono::steady_clock::now();
  next_ = std::max(next_ + period_of(options_), now);
  return std::chrono::duration_cast<std::chrono::milliseconds>(next_ - now);
}

// One segment with damaged keys does not cost the others their leases.
void Renewals::renew(uint64_t session, const Leases::Lease& lease) {
  try {
    const auto standing = queue_->renew(lease.segment.id, lease.segment.fence);
    leases_.update(session, lease.segment.fence, standing);
    if (standing.lost) log_line("worker " + lease.worker + " lost segment " + lease.segment.id);
  } catch (const queue::QueueDamaged& problem) {
    if (damaged_.insert(lease.segment.id).second)
      log_line("the lease of worker " + lease.worker + " is not renewed: " + problem.what());
  }
}

void Renewals::round() {
  try {
    if (!queue_) queue_.emplace(place_.redis, place_.replay, options_);
    for (const auto& [session, lease] : leases_.due(place_.key())) renew(session, lease);
    // Reap only after the renewals: after an outage, the leases of this node have expired, but its workers
    // live.
    const auto reaped = queue_->reap();
    if (reaped > 0) log_line("handed back " + std::to_string(reaped) + " segments whose lease had run out");
    down_ = false;
  } catch (const std::exception& problem) {
    if (!down_) log_line(std::string("leases are not renewed: ") + problem.what());
    down_ = true;
  }
}

}  // namespace flor::agent
