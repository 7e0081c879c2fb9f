#include "results/look_pace.h"

#include <algorithm>

namespace flor::results {
namespace {

constexpr int busy_share = 50, late_share = 10;

}  // namespace

LookPace::Clock::duration LookPace::pause() const {
  return std::clamp<Clock::duration>(std::max((begun_ - changed_) / late_share, took_ * busy_share), least_,
                                     most_);
}

bool LookPace::is_due(Clock::time_point now) const {
  return hurried_ || now - begun_ >= pause();
}

void LookPace::looked(Clock::time_point begun, Clock::duration took, bool changed) {
  if (changed || begun_ == Clock::time_point()) changed_ = begun;
  begun_ = begun;
  took_ = took;
  hurried_ = false;
}

void LookPace::hurry() {
  hurried_ = true;
}

}  // namespace flor::results
