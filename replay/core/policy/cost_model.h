// What checkpoints of one kind cost: M = stall + interference, both measured (seconds); interference is what
// an execution takes longer while a checkpoint is written. Costs depend on what is copied, which is less than
// the state where part of it did not change. Values in, values out: no clock, no disk.
#pragma once

#include <cstddef>
#include <deque>

namespace flor::core {

// A cost with a fixed part and a part for each byte. A measurement speaks of the part that is expected to be
// the larger one. Of each part the median of the last three measurements counts, or the last one where it is
// larger: so a rise surprises once, a fall is followed when it was seen twice, and an outlier is soon
// forgotten. Before the first measurement: the prior.
class ByteCost {
 public:
  ByteCost();
  void prior(double seconds_per_byte) { per_byte_ = Recent(seconds_per_byte); }
  void measured(double seconds, std::size_t bytes);
  double of(std::size_t bytes) const;     // what is to be expected
  double least(std::size_t bytes) const;  // and at least: the smallest of the last three

 private:
  struct Recent {
    double expected, least;
    std::deque<double> values;

    explicit Recent(double prior) : expected(prior), least(prior) {}
    void add(double value);
  };

  Recent fixed_, per_byte_;
};

// The processor time that the writer used bounds what it can take from training, and counts until better is
// known. That is the median of the executions that a write overlapped minus the median of those without one,
// where it exceeds its noise (the standard error of a difference of medians, from median absolute
// deviations); within the noise, nothing counts. It is known when there are five executions of both sorts,
// and their noise is at most half of the bound: a smaller interference could not be seen. A block that
// changed is known anew.
class Interference {
 public:
  void executed(double seconds, bool overlapped);
  double of(double bound) const;

 private:
  class Sample {
   public:
    bool enough() const;
    bool unlike(double seconds) const;
    void add(double seconds);
    double median = 0, squared_error = 0;

   private:
    std::deque<double> values_;
    int added_ = 0;
  };

  Sample overlapped_, alone_;
  int changed_ = 0;  // executions in a row that are unlike the sample
};

class CostModel {
 public:
  // Seconds to copy a byte, as measured on this machine: what a checkpoint is assumed to keep training for,
  // and what its writer, who goes over each byte as well, is assumed to take.
  void prior(double seconds_per_byte);

  void executed(double seconds, bool overlapped) { interference_.executed(seconds, overlapped); }
  void stalled(double stall, std::size_t copied);
  // Its writing took so much of a processor, and in the background `elapsed` seconds until it was durable.
  void wrote(double processor, double elapsed, std::size_t copied);
  void restored(double seconds);

  double expected(std::size_t copied) const;      // M of a checkpoint that copies this much
  double least(std::size_t copied) const;         // M if it is as cheap as the cheapest of the last three
  double interference(std::size_t copied) const;  // of expected()
  double c() const;                               // R / M; 1.38 until measured (the paper's figure)
  double wait(std::size_t copied) const;          // beyond M, of a program that does nothing but wait for it

 private:
  ByteCost stall_, write_, elapsed_;
  Interference interference_;
  double restore_ = -1, last_cost_ = -1;
};

double median(std::deque<double> values);

}  // namespace flor::core
