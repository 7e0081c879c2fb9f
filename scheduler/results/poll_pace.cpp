#include "results/poll_pace.h"

#include <algorithm>

namespace flor::results {
namespace {

// The pause is at least `busy_share` times the duration of a poll, and the time since the last change divided
// by `late_share`.
constexpr int busy_share = 50, late_share = 10;

}  // namespace

PollPace::Clock::duration PollPace::pause() const {
  return std::clamp<Clock::duration>(std::max((begun_ - changed_) / late_share, took_ * busy_share), least_,
                                     most_);
}

bool PollPace::is_due(Clock::time_point now) const {
  return hurried_ || now - begun_ >= pause();
}

void PollPace::polled(Clock::time_point begun, Clock::duration took, bool changed) {
  if (changed || begun_ == Clock::time_point()) changed_ = begun;
  begun_ = begun;
  took_ = took;
  hurried_ = false;
}

void PollPace::hurry() {
  hurried_ = true;
}

}  // namespace flor::results
