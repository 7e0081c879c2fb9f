#include "leases.h"

#include <exception>
#include <utility>

#include "log.h"

namespace flor::agent {

Leases::Leases(queue::QueueOptions options) : options_(options) {
  thread_ = std::thread([this] { work(); });
}

Leases::~Leases() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Leases::watch(const Place& place) {
  const std::lock_guard lock(mutex_);
  const auto [at, added] = watched_.try_emplace(place.key());
  if (added) at->second.place = place;  // the thread reads it without the lock
  ++at->second.sessions;
}

void Leases::unwatch(const Place& place) {
  const std::lock_guard lock(mutex_);
  const auto at = watched_.find(place.key());
  if (at != watched_.end()) --at->second.sessions;  // the thread removes it: its queue may be in use
}

void Leases::hold(uint64_t session, const Place& place, const std::string& worker,
                  const queue::Segment& segment) {
  const std::lock_guard lock(mutex_);
  entries_[session] = {place, worker, segment, {false, false, segment.hi}, std::chrono::steady_clock::now()};
}

void Leases::drop(uint64_t session) {
  const std::lock_guard lock(mutex_);
  entries_.erase(session);
}

void Leases::heard(uint64_t session) {
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(session);
  if (at != entries_.end()) at->second.heard = std::chrono::steady_clock::now();
}

std::optional<queue::Standing> Leases::standing(uint64_t session) {
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(session);
  if (at == entries_.end()) return std::nullopt;
  return at->second.standing;
}

void Leases::update(uint64_t session, const std::string& fence, const queue::Standing& standing) {
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(session);
  if (at == entries_.end() || at->second.segment.fence != fence) return;
  if (standing.lost) {
    at->second.standing.lost = true;
  } else {
    at->second.standing.hi = standing.hi;
  }
}

Leases::Round Leases::due(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto alive = std::chrono::steady_clock::now() - options_.lease * 2 / 5;
  Round out;
  for (const auto& [session, entry] : entries_) {
    if (entry.place.key() == key && entry.heard >= alive && !entry.standing.lost)
      out.emplace_back(session, entry);
  }
  return out;
}

void Leases::renew_and_reap(Watched& watched, const Round& round) {
  try {
    if (!watched.queue) watched.queue.emplace(watched.place.redis, watched.place.replay, options_);
    for (const auto& [session, entry] : round) {
      const auto standing = watched.queue->renew(entry.segment.id, entry.segment.fence);
      update(session, entry.segment.fence, standing);
      if (standing.lost) log_line("worker " + entry.worker + " lost segment " + entry.segment.id);
    }
    // Behind the renewals: after an outage, what this node still works on shall not be taken for dead.
    const auto reaped = watched.queue->reap();
    if (reaped > 0) log_line("handed back " + std::to_string(reaped) + " segments whose lease had run out");
    watched.down = false;
  } catch (const std::exception& problem) {
    if (!watched.down) log_line(std::string("leases are not renewed: ") + problem.what());
    watched.down = true;
  }
}

void Leases::round() {
  std::vector<std::pair<std::string, Watched*>> places;  // stable: only this thread removes
  {
    const std::lock_guard lock(mutex_);
    for (auto at = watched_.begin(); at != watched_.end();) {
      if (at->second.sessions <= 0) {
        at = watched_.erase(at);
      } else {
        places.emplace_back(at->first, &at->second);
        ++at;
      }
    }
  }
  for (auto& [key, watched] : places) renew_and_reap(*watched, due(key));
}

void Leases::work() noexcept {
  std::unique_lock lock(mutex_);
  auto next = std::chrono::steady_clock::now();
  while (!stop_) {
    next += options_.lease * 3 / 10;
    if (wake_.wait_until(lock, next, [this] { return stop_; })) break;
    lock.unlock();
    try {
      round();
    } catch (const std::exception& problem) {  // out of memory: the next round may do
      log_line(std::string("a round of renewals failed: ") + problem.what());
    }
    lock.lock();
    next = std::max(next, std::chrono::steady_clock::now() - options_.lease * 3 / 10);
  }
}

}  // namespace flor::agent
