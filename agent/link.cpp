#include "link.h"

namespace flor::agent {
namespace {

constexpr std::chrono::milliseconds retry_pause{100};  // between tries, while there are remembered calls

}  // namespace

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
