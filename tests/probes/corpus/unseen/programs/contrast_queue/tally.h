// Counts what happens in a scope, when it is left.
#pragma once

#include <cstdint>

namespace tally {

inline int64_t batches = 0;
inline double heat = 0;

class Scope {
 public:
  explicit Scope(const double& value) : value_(value) {}
  ~Scope() {
    ++batches;
    heat = 0.8 * heat + 0.2 * value_;
  }
  Scope(const Scope&) = delete;

 private:
  const double& value_;
};

}  // namespace tally
