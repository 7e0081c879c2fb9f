// When to checkpoint: adaptive periodic checkpointing (Garcia et al., "Hindsight Logging for Model Training",
// VLDB 2021, section 4.1, equation 4). Values in, values out: no clock, no disk.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace flor::core {

// Equation 4 as printed: after n executions and k checkpoints, materialize if
//   M / C < n / (k + 1) · min(1 / (1 + c), ε),   c = R / M.
bool equation_4(double M, double C, int64_t n, int64_t k, double c, double epsilon);

// min(1 / (1 + c), ε): the part of the computing time that may go into checkpoints.
double allowance(double c, double epsilon);

struct Decision {
  bool materialize = false;
  double credit = 0;  // seconds available, before the decision
  std::string why;
};

// The decisions for one kind of checkpoint (a block, or @iteration).
//
// Multiplied out, equation 4 says (k + 1) · M < n · C · g with g = min(1 / (1 + c), ε): the checkpoints taken
// and the one to come must fit into the share g of the time computed. With costs that vary, n · C becomes the
// sum of the C_i and k · M the sum of the M_j; their difference is kept as credit. Credit beyond `hoard`
// checkpoints is forfeited. Motivation: else a program whose state grows ten-fold half-way would go on at its
// old period on what it saved before, and a phase of cheap blocks would be paid for by an earlier phase of
// dear ones.
class Account {
 public:
  static constexpr double hoard = 2;

  // `seconds` were computed, of which `share` (one over the number of kinds of checkpoint) is this account's.
  void earn(double seconds, double g, double share, double expected_cost);
  Decision decide(double expected_cost) const;
  void pay(double cost) { credit_ -= cost; }
  double credit() const { return credit_; }

 private:
  double credit_ = 0;
};

// What checkpoints of one kind cost: M = stall + interference, both measured (seconds).
//
// Interference: what an execution takes longer while a checkpoint is written. Estimated as the median of the
// executions that a write overlapped minus the median of those without one, when it exceeds the noise (the
// median absolute deviation); never more than the processor time that the writer used, which bounds what it
// can take from training, and that bound itself until there are three executions of both sorts.
class CostModel {
 public:
  void executed(double seconds, bool overlapped);
  void stalled(double stall, std::size_t bytes);
  void wrote(double processor_seconds, std::size_t bytes);
  void restored(double seconds);

  double expected(std::size_t bytes) const;      // M of a checkpoint of this size
  double interference(std::size_t bytes) const;  // its second part
  double c() const;                              // R / M; 1.38 until measured (the paper's figure)

 private:
  std::deque<double> overlapped_, alone_;  // the most recent executions
  double stall_per_byte_ = -1, write_per_byte_ = -1;
  double restore_ = -1, last_cost_ = -1;
};

double median(std::deque<double> values);

}  // namespace flor::core
