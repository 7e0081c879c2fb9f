// Decides when to checkpoint. Values in, values out: no clock, no disk.
//
// The rule: at the end of an execution, a checkpoint with expected cost M is taken if the budget allows it
// (core/policy/budget.h: ε over the run and over windows of 20 executions), and either replay or recovery
// wants it.
//
// Replay wants checkpoints as often as equation 4 of Garcia et al., "Hindsight Logging for Model Training"
// (VLDB 2021, section 4.1) allows. After n executions and k checkpoints:
//   M / C < n / (k + 1) · g,   g = min(1 / (1 + c), ε),   c = R / M.
// C is the time that an execution takes, and R the time to restore its checkpoint. For costs that vary, see
// Account.
//
// Recovery wants checkpoints if the user gives a mean time between failures (MTBF): one every W seconds of
// computing. W is from Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps"
// (Future Generation Computer Systems 22(3), 2006, equation 37). Where M is much smaller than the MTBF it is
// that of Young, "A first order approximation to the optimum checkpoint interval" (Communications of the ACM
// 17(9), 1974): sqrt(2 · M · MTBF). Recovery takes the end of an execution that is nearest to W seconds after
// the last checkpoint. Only checkpoints that a failed run can resume from count: those of whole states, at or
// inside iterations, if the program has them.
//
// Inside an iteration, checkpoints between steps follow only one that stands before the iteration. So at the
// end of an iteration recovery looks ahead to the end of the next one, as if there were no checkpoints
// between.
//
// The more frequent of the two decides. Where restoring is expensive, g is smaller than ε. Then recovery may
// use all of ε, also what replay was saving for. Checkpoints that recovery takes count as taken in equation
// 4.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/policy/budget.h"

namespace flor::core {

// Equation 4 as printed.
bool equation_4(double M, double C, int64_t n, int64_t k, double c, double epsilon);

// Returns g = min(1 / (1 + c), ε): the share of computing time that replay wants to spend on checkpoints.
double allowance(double c, double epsilon);

// Returns W: seconds of computing between two checkpoints that cost M each, for a mean time between failures.
double recovery_interval(double M, double mtbf);

// From which checkpoints a failed run resumes.
enum class ResumeSource {
  // Not from this kind.
  none,
  // From the newest of this kind, together with the newest of each other such kind.
  own_kind,
  // From the newest of all such kinds.
  newest
};

// The credit that equation 4 leaves to one kind of checkpoint (a block, or @iteration).
//
// Multiplied out, equation 4 says (k + 1) · M < n · C · g: the checkpoints taken and the next one must fit
// into the share g of the time computed. With costs that vary, n · C becomes the sum of the C_i and k · M the
// sum of the M_j. Their difference is the credit.
// Credit for more than `max_saved_checkpoints` checkpoints is dropped. Motivation: otherwise a program whose
// state grows ten-fold half-way would keep its old period on what it saved before, and an earlier phase of
// expensive blocks would pay for a phase of cheap ones.
class Account {
 public:
  static constexpr double max_saved_checkpoints = 2;

  // Adds `income` as far as there is room. Returns the rest.
  double earn(double income, double expected_cost);
  void pay(double cost) { credit_ -= cost; }
  bool affords(double expected_cost) const { return expected_cost < credit_; }
  double credit() const { return credit_; }

 private:
  double credit_ = 0;
};

// A decision, with the figures behind it (seconds).
struct Decision {
  bool materialize = false;
  std::string why;
  double M = 0, c = 0, g = 0;
  // What equation 4 leaves to this kind of checkpoint.
  double credit = 0;
  // What is left of ε for the whole run.
  double run = 0;
  // What windows of 20 executions leave. Infinity if the checkpoint is too large for any of them.
  double window = 0;
  // W. Nothing unless recovery wants checkpoints of this kind.
  std::optional<double> interval;
  // Seconds computed since the last checkpoint of this kind, or the last one that recovery can use.
  double since = 0;

  // Leaves the checkpoint out after all.
  void withhold(std::string reason) {
    materialize = false;
    why = std::move(reason);
  }
};

// Decides for all kinds of checkpoint of a run, which share one ε. Income of g · (time computed, each moment
// once) is divided evenly among the kinds. What a kind has no room for (Account::max_saved_checkpoints) goes
// to the others.
//
// A kind reserves room if it could pay, finds the windows filled, and had no checkpoint in the last 20
// executions. The others leave it that room if its next execution ends within a window; the longer it waits,
// the more. So a cheap and frequent kind does not starve an expensive one, and an expensive or finished kind
// does not block what it cannot use.
class Policy {
 public:
  explicit Policy(double epsilon, std::optional<double> mtbf = std::nullopt)
      : epsilon_(epsilon), mtbf_(mtbf), budget_(epsilon) {}

  // Returns the seconds computed so far, each moment once. Callers remember this at the start of an
  // execution.
  double computed() const { return computed_; }
  // Returns the seconds computed since the last checkpoint of a kind with ResumeSource::newest.
  double since_newest() const { return computed_ - last_newest_; }

  // Sets what a checkpoint of this kind would cost now: expected, at least, and c = R / M.
  void expect(const std::string& kind, double M, double least, double c);

  // Records that an execution ended. `seconds`: its duration, executions inside it included. `begun`:
  // computed() at its start. Returns its number.
  int64_t executed(const std::string& kind, double seconds, double begun);
  int64_t executions() const { return budget_.executions(); }

  // Decides about a checkpoint at the end of the present execution.
  Decision decide(const std::string& kind, ResumeSource source);
  // Returns the seconds of computing that recovery wants between two checkpoints of this kind. Nothing
  // without a mean time between failures, or while the cost is unknown.
  std::optional<double> interval(const std::string& kind) const;

  // Budget::pay, for this kind. Also called when the checkpoint failed.
  void pay(const std::string& kind, int64_t execution, double stall, double interference);
  // Records that a checkpoint of this kind was taken.
  void checkpointed(const std::string& kind);
  // Budget::share.
  double share() const { return budget_.share(); }

  // Budget::spend.
  void spend(double seconds) { budget_.spend(seconds); }
  // Budget::spend_within.
  void spend_within(double seconds) { budget_.spend_within(seconds); }

  // Returns whether `cost` may be spent at the end of the present execution on something other than a
  // checkpoint.
  bool affords(double cost) const { return cost <= budget_.credit() && budget_.allows(cost, cost); }

 private:
  struct Kind {
    Account account;
    double M = 0, least = 0, c = 0, g = 0;
    // computed() at the last checkpoint.
    double last = 0;
    // Of the last execution.
    double seconds = 0;
    // Number of that execution.
    int64_t number = 0;
    // Executions, of all kinds, since the one before it.
    int64_t gap = 0;
    // Number of the execution with the last checkpoint.
    int64_t taken = 0;
    // Executions in a row that waited for room in the windows.
    int waited = 0;
    ResumeSource source = ResumeSource::none;
  };

  void divide(double seconds);
  Budget::Reservation reserved_by_others(const Kind& kind) const;
  std::string refusal(Kind& kind) const;

  double epsilon_;
  std::optional<double> mtbf_;
  Budget budget_;
  double computed_ = 0;
  double last_newest_ = 0;  // computed_ at the last checkpoint of a kind with ResumeSource::newest
  std::map<std::string, Kind> kinds_;
};

}  // namespace flor::core
