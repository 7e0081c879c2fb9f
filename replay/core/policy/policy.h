// When to checkpoint. Values in, values out: no clock, no disk.
//
// The rule. At the end of an execution, a checkpoint that is expected to cost M is taken when
//   the budget allows it (core/policy/budget.h: ε over the run and over windows of 20 executions), and
//   replay wants it, or recovery does.
//
// Replay wants checkpoints as often as equation 4 of Garcia et al., "Hindsight Logging for Model Training"
// (VLDB 2021, section 4.1) allows: after n executions and k checkpoints, if
//   M / C < n / (k + 1) · g,   g = min(1 / (1 + c), ε),   c = R / M.
// With costs that vary, see Account.
//
// Recovery, where the user gives a mean time between failures (MTBF), wants one every W seconds of computing,
// W of Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps" (Future
// Generation Computer Systems 22(3), 2006, equation 37), which where M is much smaller than the MTBF is that
// of Young, "A first order approximation to the optimum checkpoint interval" (Communications of the ACM
// 17(9), 1974): sqrt(2 · M · MTBF). Of the ends of executions it takes the one nearest to W seconds behind
// the last checkpoint. Only checkpoints that a failed run is resumed from count: those of whole states, in
// iterations and between them, where the program has them.
//
// Between the steps of an iteration there are checkpoints only behind one in front of it; so at the end of an
// iteration recovery looks as far ahead as the next iteration's end, as if there were none between.
//
// So the more frequent of the two decides. Where restoring is dear, g is smaller than ε; then recovery may
// use all of ε, also what replay was saving for. What it takes counts as taken in equation 4.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "core/policy/budget.h"

namespace flor::core {

// Equation 4 as printed.
bool equation_4(double M, double C, int64_t n, int64_t k, double c, double epsilon);

// g = min(1 / (1 + c), ε): the part of the computing time that replay wants to go into checkpoints.
double allowance(double c, double epsilon);

// W: seconds of computing between two checkpoints that cost M each, for a mean time between failures.
double recovery_interval(double M, double mtbf);

// From which checkpoints a failed run is resumed.
enum class ResumeSource {
  none,      // not from this kind
  own_kind,  // from the newest of this kind, and of each other such kind
  newest     // from the newest of all such kinds
};

// What equation 4 leaves to one kind of checkpoint (a block, or @iteration).
//
// Multiplied out it says (k + 1) · M < n · C · g: the checkpoints taken and the one to come must fit into the
// share g of the time computed. With costs that vary, n · C becomes the sum of the C_i and k · M the sum of
// the M_j; their difference is kept as credit. Credit beyond `max_saved_checkpoints` checkpoints is
// forfeited. Motivation: else a program whose state grows ten-fold half-way would go on at its old period on
// what it saved before, and a phase of cheap blocks would be paid for by an earlier phase of dear ones.
class Account {
 public:
  static constexpr double max_saved_checkpoints = 2;

  // Takes what it has room for; returns the rest of `income`.
  double earn(double income, double expected_cost);
  void pay(double cost) { credit_ -= cost; }
  bool affords(double expected_cost) const { return expected_cost < credit_; }
  double credit() const { return credit_; }

 private:
  double credit_ = 0;
};

// A decision, with the figures that it was taken on (seconds).
struct Decision {
  bool materialize = false;
  std::string why;
  double M = 0, c = 0, g = 0;
  double credit = 0;  // of this kind of checkpoint: what equation 4 leaves
  double run = 0;     // what the whole run has left of ε
  double window =
      0;  // what windows of 20 executions leave; infinity where it does not fit into one even alone
  std::optional<double> interval;  // W, where recovery wants checkpoints of this kind
  double since = 0;                // computed since the last checkpoint of this kind, or that recovery had
};

// Decides for all kinds of checkpoint of a run, which share one ε. An income of g · (time computed, each
// moment once) is divided evenly among the kinds; what a kind has no room for
// (Account::max_saved_checkpoints) goes to the others. A kind that could pay but finds the windows filled,
// and had no checkpoint in the last 20 executions, claims room: the others leave it to that kind, when its
// next execution is to end within a window; the more, the longer it waits. So neither does a cheap and
// frequent kind starve a dear one, nor does a kind that is dear or over keep from the others what it cannot
// use.
class Policy {
 public:
  explicit Policy(double epsilon, std::optional<double> mtbf = std::nullopt)
      : epsilon_(epsilon), mtbf_(mtbf), budget_(epsilon) {}

  // Seconds computed so far, each moment once: what an execution has to remember of its beginning.
  double computed() const { return computed_; }

  // What a checkpoint of this kind would cost now, is expected to and at least, and c = R / M.
  void expect(const std::string& kind, double M, double least, double c);

  // An execution ended. It took `seconds`, executions inside of it included; `begun` was computed() at its
  // beginning. Returns its number.
  int64_t executed(const std::string& kind, double seconds, double begun);
  int64_t executions() const { return budget_.executions(); }

  // About a checkpoint at the end of the present execution.
  Decision decide(const std::string& kind, ResumeSource source);
  // How much computing recovery wants between two checkpoints that cost as much as one of this kind; nothing
  // without a mean time between failures, or where that cost is not known.
  std::optional<double> interval(const std::string& kind) const;

  // As Budget::pay, by this kind; whether or not a checkpoint came of it.
  void pay(const std::string& kind, int64_t execution, double stall, double interference);
  void checkpointed(const std::string& kind);  // one was taken
  // As Budget::spend.
  void spend(double seconds) { budget_.spend(seconds); }

  // May `cost` be spent at the end of the present execution on something else than a checkpoint?
  bool affords(double cost) const { return cost <= budget_.credit() && budget_.allows(cost, cost); }

 private:
  struct Kind {
    Account account;
    double M = 0, least = 0, c = 0, g = 0;
    double last = 0;     // computed() at the last checkpoint
    double seconds = 0;  // of the last execution
    int64_t number = 0;  // of that
    int64_t gap = 0;     // executions, of all kinds, from the one before it
    int64_t taken = 0;   // number of the execution with the last checkpoint
    int waited = 0;      // for room in the windows, executions in a row
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
