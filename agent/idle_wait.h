// Decides for a session how long a worker that found no work waits before it asks again.
#pragma once

namespace flor::agent {

// Starts with half a second and waits longer each time, up to five seconds, so that hundreds of idle workers
// do not keep Redis busy. Near the expected end of the running segments it waits less: then work of another
// worker becomes free, or all is done.
class IdleWait {
 public:
  // Returns the next wait in seconds. `left`: seconds until the running segments are expected to end; 0:
  // unknown. `chance`, in [0, 1), changes the wait by up to a quarter, to spread workers that began together.
  double next(double left, double chance);
  // Starts again with the shortest wait, because the worker got work.
  void reset() { longest_ = least; }

 private:
  static constexpr double least = 0.5, most = 5;
  double longest_ = least;
};

}  // namespace flor::agent
