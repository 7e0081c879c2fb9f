#include "link.h"

#include <exception>
#include <utility>

#include "log.h"
#include "queue/queue.h"

namespace flor::agent {
namespace {

// Between two tries, so that a Redis that hangs (each try takes 2 s) leaves the link time for its workers.
constexpr std::chrono::milliseconds first_pause{100}, longest_pause{5000};

constexpr std::chrono::milliseconds retry_pause{100};  // between tries, while there are remembered calls

}  // namespace

QueueLink::QueueLink(const Place& place, queue::QueueOptions options, Leases& leases)
    : place_(place),
      leases_(leases),
      queue_(place.redis, place.replay, options),
      pauses_(first_pause, longest_pause) {}

void QueueLink::failed(const std::string& why) {
  if (trouble_.empty()) log_line(why);
  trouble_ = why;
  retry_at_ = std::chrono::steady_clock::now() + pauses_.next();
}

// Makes the call. Returns false if Redis is away, or the store (StoreDown). Throws every other error.
bool QueueLink::attempt(const std::function<void()>& call) {
  if (!trouble_.empty() && std::chrono::steady_clock::now() < retry_at_) return false;
  try {
    call();
  } catch (const queue::RedisDown& down) {
    failed(down.what());
    return false;
  }
  if (!trouble_.empty()) log_line("the queue of replay " + place_.replay.id() + " can be used again");
  trouble_.clear();
  pauses_.reset();
  return true;
}

void QueueLink::make(const Remembered& remembered) {
  if (const auto* unit = std::get_if<queue::Commit>(&remembered.call)) {
    const auto standing = queue_.commit(*unit);
    leases_.update(remembered.session, unit->fence, standing);
    if (standing.lost) {
      log_line("unit " + std::to_string(unit->unit) + " of worker " + unit->worker +
               " came late: its segment is another's");
    }
  } else {
    const auto& call = std::get<Release>(remembered.call);
    queue_.release(call.segment, call.fence, call.error);
  }
}

// Makes the remembered calls in order: the queue refuses a commit before those of earlier units.
bool QueueLink::flush() {
  while (!remembered_.empty()) {
    try {
      if (!attempt([this] { make(remembered_.front()); })) return false;
    } catch (const std::exception& problem) {
      failed(problem.what());
      return false;
    }
    remembered_.pop_front();
  }
  return true;
}

void QueueLink::retry(bool now) {
  if (now) retry_at_ = {};
  flush();
}

std::optional<queue::Claim> QueueLink::claim(const std::string& worker, int64_t from,
                                             std::optional<int64_t> left) {
  queue::Claim out;
  if (!flush() || !attempt([&] { out = queue_.claim(worker, from, left); })) return std::nullopt;
  return out;
}

std::optional<queue::Standing> QueueLink::commit(uint64_t session, const queue::Commit& unit) {
  std::optional<queue::Standing> out;
  try {
    if (flush() && attempt([&] { out = queue_.commit(unit); })) return out;
  } catch (const std::exception& problem) {
    failed(problem.what());
  }
  remembered_.push_back({session, unit});
  return std::nullopt;
}

void QueueLink::release(const std::string& segment, const std::string& fence, const std::string& error) {
  remembered_.push_back({0, Release{segment, fence, error}});
  flush();
}

std::optional<queue::Standing> QueueLink::renew(const std::string& segment, const std::string& fence) {
  std::optional<queue::Standing> out;
  attempt([&] { out = queue_.renew(segment, fence); });
  return out;
}

void QueueLink::join(const queue::WorkerInfo& worker) {
  attempt([&] { queue_.join(worker); });
}

void QueueLink::leave(const std::string& worker) {
  try {
    attempt([&] { queue_.leave(worker); });
  } catch (const std::exception& problem) {
    log_line(problem.what());
  }
}

Link::Link() : jobs_([this] { return tend(); }) {}

Link::Link(const Place& place, queue::QueueOptions options, Leases& leases)
    : queue_(std::make_unique<QueueLink>(place, options, leases)),
      jobs_([this] { return tend(); }),
      renewals_(std::make_unique<Renewals>(place, options, leases)) {}

JobThread::Pause Link::tend() {
  if (!queue_ || !queue_->pending()) return {};
  queue_->retry();
  return queue_->pending() ? JobThread::Pause(retry_pause) : std::nullopt;
}

void Link::retry_now() {
  if (queue_) post([this] { queue_->retry(true); });
}

bool Link::end_if_unused() {
  return sessions == 0 && jobs_.is_idle() && (!renewals_ || renewals_->end_if_resting());
}

}  // namespace flor::agent
