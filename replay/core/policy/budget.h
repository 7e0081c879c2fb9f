// Limits what checkpoints may cost to ε, a share of the computing time that the user sets (--flor-epsilon):
// over the whole run, and over every window of 20 executions. Values in, values out: no clock, no disk.
//
// An execution is one of a block or one iteration of the main loop. Executions nest. Time is counted once:
// each moment belongs to the innermost execution around it. Executions are numbered by their ends, whatever
// their kind. A checkpoint belongs to the execution at whose end it was taken.
//
// Promises:
// - Run: no checkpoint is chosen that would bring all costs paid above ε · all time computed.
// - Window: no checkpoint is chosen that would bring the costs in any 20 consecutive executions above ε · the
//   time computed in them. A window whose allowance is too small for this checkpoint alone is exempt; there
//   only the promise for the run holds. So where a checkpoint costs a large part of the allowance of 20
//   executions, fewer are taken than the run allows (one instead of 1.9, for example).
//
// Limits, and what is done about them:
// - A cost is known only after it was paid. A checkpoint that cost more than expected brings the run, and the
//   windows that hold it, above ε by at most the difference. No other one is chosen until the difference is
//   paid back in the run and in each of these windows, so differences never add up.
// - Future executions are unknown. A window that reaches m executions into the future is judged as if these
//   took as long as the shortest m consecutive ones of the last 20. Where blocks get cheaper than that,
//   windows across the change may exceed ε. The promise for the run does not depend on it.
// - Interference that hides in the noise of executions is not seen (core/policy/cost_model.h).
// - Checkpoints that are taken whatever they cost (a loop's entry, FLOR_EVERY) are paid like any other, but
//   not limited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace flor::core {

class Budget {
 public:
  static constexpr std::size_t window = 20;

  explicit Budget(double epsilon) : epsilon_(epsilon) {}

  // Records that an execution ended. `seconds`: time computed that no execution inside it has counted.
  // Returns its number, from 1.
  int64_t executed(double seconds);

  int64_t executions() const { return executions_; }

  // Records the cost of a checkpoint at the end of execution `number` (0: before the first one, counted with
  // it). `stall`: seconds that training waited. `interference`: seconds that the write takes from training
  // and that will be measured as computing. Negative values correct an estimate.
  void pay(int64_t number, double stall, double interference);

  // Records a cost that belongs to no checkpoint (starting to record). It counts for the run, not for
  // windows.
  void spend(double seconds) { paid_ += seconds; }
  // The same of seconds that will be measured as computing.
  void spend_within(double seconds) {
    paid_ += seconds;
    taken_ += seconds;
  }

  // Returns the costs paid as a share of the time computed: what ε limits. 0 before anything was computed.
  double share() const { return computed_ > 0 ? paid_ / computed_ : 0; }

  // Returns what is left for the whole run. Negative if costs turned out higher than expected.
  double credit() const { return epsilon_ * computed_ - paid_; }

  // Seconds that other kinds of checkpoint reserve in the windows.
  struct Reservation {
    // A window that is too small for this ignores the reservation.
    double cost = 0;
    // Seconds to leave free.
    double room = 0;
  };
  // Returns whether the windows that hold the present execution have room for a checkpoint. `cost`: expected.
  // `least`: what it costs at least. `other`: what is reserved for others.
  // Motivation for `least`: an estimate that is too high would make windows exempt that are not. So a window
  // is exempt only if `least` does not fit. Where `least` fits and `cost` does not, there must be room for
  // `least`.
  bool allows(double cost, double least, const Reservation& other) const;
  bool allows(double cost, double least) const { return allows(cost, least, {}); }

  // Returns what the tightest of these windows has left. Infinity if all of them are exempt.
  double room(double least) const;

 private:
  struct Execution {
    double seconds = 0, cost = 0;
  };

  struct Window {
    double allowance = 0, spent = 0;
  };

  std::vector<Window> windows() const;
  double shortest(std::size_t executions) const;

  double epsilon_;
  double computed_ = 0, paid_ = 0;
  // Interference that is still contained in times to be measured as computing.
  double taken_ = 0;
  int64_t executions_ = 0;
  // Paid before the first execution.
  double early_ = 0;
  std::deque<Execution> recent_;
};

}  // namespace flor::core
