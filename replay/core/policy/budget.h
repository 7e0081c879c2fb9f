// What checkpoints may cost: the user's ε, over the whole run and over every window of 20 executions.
// Values in, values out: no clock, no disk.
//
// An execution is one of a block or one iteration of the main loop; executions nest. Time is counted once:
// each moment belongs to the innermost execution that it lies in. Executions are numbered by their ends,
// whatever their kind, and a checkpoint belongs to the execution at whose end it was taken.
//
// What is promised:
//   run     Never is a checkpoint chosen with which all that was paid would exceed ε · all that was computed.
//   window  Nor one with which what was paid in any 20 consecutive executions would exceed ε · what was
//           computed in them. A window into whose allowance the checkpoint does not fit even alone is exempt:
//           there the run's promise holds alone. So where a checkpoint costs a large part of 20 executions'
//           allowance, fewer are taken than the run's promise allows (one instead of 1.9, say).
//
// What cannot be promised, and what is done about it:
// - A cost is known only after it was paid. A checkpoint that cost more than was expected takes the run, and
// the
//   windows that hold it, above ε by at most that difference. No other one is chosen before it is paid back,
//   in the run and in each of these windows, so differences never add up.
// - Executions to come are not known. A window that reaches into the future is judged as if the next m
// executions
//   took as long as the shortest m consecutive ones of the last 20. Where blocks get cheaper than that,
//   windows across the change may exceed ε; the run's promise does not depend on it.
// - Interference that hides in the noise of executions is not seen (core/policy/cost_model.h).
// - What is taken whatever it costs (a loop's entry, FLOR_EVERY) is paid like anything else, but not asked
// about.
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

  // An execution ended in which `seconds` were computed that no execution inside of it has counted. Returns
  // its number, from 1.
  int64_t executed(double seconds);

  int64_t executions() const { return executions_; }

  // A checkpoint taken at the end of execution `number` (0: before the first one, counted with it) kept
  // training for `stall` seconds, and its writing takes `interference` of the time that will be measured as
  // computing. May be negative, to correct an estimate.
  void pay(int64_t number, double stall, double interference);

  // Recording took `seconds`, but for no checkpoint (its beginning): the run pays, no window.
  void spend(double seconds) { paid_ += seconds; }

  // What the whole run has left; negative when costs turned out higher than expected.
  double credit() const { return epsilon_ * computed_ - paid_; }

  // Do the windows that hold the present execution allow a checkpoint that is expected to cost `cost`, and
  // costs `least` at least, beside what is reserved for another one? Where the first does not fit in alone
  // but the second does, there must be room for that: a window is exempt only if both do not fit. `least` is
  // asked for because an estimate errs: one that is too high would take windows for exempt that are not.
  struct Reservation {
    double cost = 0;  // a window in which this does not fit is none of its concern
    double room = 0;  // to be left to it
  };
  bool allows(double cost, double least, const Reservation& other) const;
  bool allows(double cost, double least) const { return allows(cost, least, {}); }

  // What the tightest of these windows has left for it: infinity where all of them are exempt.
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
  double taken_ = 0;  // by interference, of what will be measured as computing
  int64_t executions_ = 0;
  double early_ = 0;  // paid before the first execution
  std::deque<Execution> recent_;
};

}  // namespace flor::core
