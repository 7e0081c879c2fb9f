// When a worker that found no work asks again.
#pragma once

namespace flor::agent {

// Half a second at first, then longer each time, to at most five seconds: hundreds of idle workers shall not
// keep Redis busy. Towards the end of what runs, sooner again: then there is work of another, or none at all
// any more.
class IdleWait {
 public:
  // Seconds. `left`: until what runs is expected to be over; 0: not known. `chance` in [0, 1) spreads those
  // that began together.
  double next(double left, double chance);
  // It has work.
  void reset() { longest_ = least; }

 private:
  static constexpr double least = 0.5, most = 5;
  double longest_ = least;
};

}  // namespace flor::agent
