#include "idle_wait.h"

#include <algorithm>

namespace flor::agent {

double IdleWait::next(double left, double chance) {
  const double late = left > 0 ? std::max(least, left / 4) : most;
  const double wait = std::min(longest_, late);
  longest_ = std::min(most, longest_ * 1.5);
  return wait * (0.75 + chance / 2);
}

}  // namespace flor::agent
