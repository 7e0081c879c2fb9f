#include "leases.h"

namespace flor::agent {

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

}  // namespace flor::agent
