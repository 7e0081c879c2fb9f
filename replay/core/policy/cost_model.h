// Estimates what checkpoints of one kind cost, from measurements in seconds: M = stall + interference.
// Interference is what an execution takes longer while a checkpoint is written. Costs depend on the bytes
// that are copied, which is less than the state where part of it did not change. Values in, values out: no
// clock, no disk.
#pragma once

#include <cstddef>
#include <deque>

namespace flor::core {

// A cost with a fixed part and a part for each byte. A measurement updates the part that is expected to be
// the larger one. The estimate of each part is the median of the last three measurements, or the last one if
// that is larger. So a rise surprises once, a fall is followed after two measurements, and an outlier is soon
// forgotten. Before the first measurement the prior counts.
class ByteCost {
 public:
  ByteCost();
  void prior(double seconds_per_byte) { per_byte_ = Recent(seconds_per_byte); }
  void measured(double seconds, std::size_t bytes);
  // Returns the expected cost.
  double of(std::size_t bytes) const;
  // Returns the least cost to expect: the smallest of the last three measurements.
  double least(std::size_t bytes) const;

 private:
  struct Recent {
    double expected, least;
    std::deque<double> values;

    explicit Recent(double prior) : expected(prior), least(prior) {}
    void add(double value);
  };

  Recent fixed_, per_byte_;
};

// Estimates interference. The processor time of the writer is an upper bound, and counts until a measurement
// exists. The measurement is the median of the executions that a write overlapped, minus the median of those
// without a write. It counts only above its noise (the standard error of a difference of medians, from median
// absolute deviations).
// It needs five executions of both sorts, and noise of at most half the bound: a smaller interference could
// not be seen. It starts again when the block changed.
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
  // Executions in a row that differ from the sample.
  int changed_ = 0;
};

class CostModel {
 public:
  // Sets the seconds to copy a byte, as measured on this machine. Until measured, a checkpoint is assumed to
  // stall training for that long, and its writer, which also reads each byte, to take as long again.
  void prior(double seconds_per_byte);

  void executed(double seconds, bool overlapped) { interference_.executed(seconds, overlapped); }
  void stalled(double stall, std::size_t copied);
  // Records a write. `processor`: seconds of processor time. `elapsed`: seconds until it was durable, for a
  // write in the background.
  void wrote(double processor, double elapsed, std::size_t copied);

  // Returns the expected M of a checkpoint that copies this much.
  double expected(std::size_t copied) const;
  // Returns M if it is as cheap as the cheapest of the last three.
  double least(std::size_t copied) const;
  // Returns the part of expected() that is interference.
  double interference(std::size_t copied) const;
  // c of equation 4, R / M: the paper's figure, and no measured one. A recording restores nothing unless it
  // is resumed, and so does not know R. It matters little: g is ε until c exceeds 1 / ε - 1, which is 14 for
  // the usual ε. Replays measure R and plan with it (scheduler/plan/history.h).
  static constexpr double c() { return 1.38; }
  // Returns the seconds beyond M that a program waits if it does nothing else during the write.
  double wait(std::size_t copied) const;

 private:
  ByteCost stall_, write_, elapsed_;
  Interference interference_;
};

double median(std::deque<double> values);

}  // namespace flor::core
