// Pretended training runs under the real policy, cost model and budget: the tests say what computing and
// checkpoints take, the policy is told what the Checkpointer would measure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/policy/cost_model.h"
#include "core/policy/policy.h"

namespace flor::core::testing {

// One execution of a block, and the checkpoint that could be taken at its end.
struct Step {
  double seconds = 1;
  double stall = 0;         // that a checkpoint here would cost
  double interference = 0;  // and take from the execution that follows
  std::size_t bytes = 100000000;

  double cost() const { return stall + interference; }
};
using Profile = std::vector<Step>;

struct Taken {
  std::size_t at = 0;
  double expected = 0, cost = 0;
};
using Checkpoints = std::vector<Taken>;

Profile constant(std::size_t steps, double seconds, double stall);

// What the policy takes. The prior is a machine's that copies at the first step's speed.
Checkpoints under_policy(const Profile& profile, double epsilon);

// What checkpoints are worth: the seconds of computing that a replay need not do again.
double gain(const Profile& profile, const Checkpoints& taken);

// The largest gain, and the most checkpoints, that any fixed period has, over all periods and all first
// executions, that keeps the promise over the whole run, and, if `windows`, over every window of 20 as well.
struct Best {
  double gain = 0;
  std::size_t count = 0;
};
Best best_fixed(const Profile& profile, double epsilon, bool windows);

// Of a window of 20 executions: what its checkpoints cost beyond ε of its time; 0 where it is exempt, as one
// of its checkpoints would exceed its allowance even alone.
struct Excess {
  double seconds = 0;
  double overrun = 0;  // of its last checkpoint: cost beyond what was expected
};
std::vector<Excess> window_excesses(const Profile& profile, const Checkpoints& taken, double epsilon);

// At each checkpoint: all that was paid so far beyond ε · all that was computed so far.
std::vector<Excess> run_excesses(const Profile& profile, const Checkpoints& taken, double epsilon);

// Deterministic noise in [0, 1).
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed) {}
  double next();

 private:
  std::uint64_t state_;
};

}  // namespace flor::core::testing
