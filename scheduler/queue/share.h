// Chooses for Queue::claim which part of a running segment an idle worker takes over, so that both workers
// end at the same time. Pure. Times are in seconds; a worker of speed 1 is as fast as the recorded machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/store/plan.h"

namespace flor::queue {

// The times that the units of a plan take on a worker of speed 1.
class Times {
 public:
  explicit Times(const core::Plan& plan);

  int64_t units() const;
  // Returns the seconds for units first … end-1.
  double work(int64_t first, int64_t end) const;
  // Returns the seconds before unit `to` can start on a worker that is at the start of unit `from` (-1: of
  // the program). Returns 0 in a complete run, where the time to enter a unit is part of its work.
  double lead_in(int64_t from, int64_t to) const;

 private:
  std::vector<double> work_, skip_;  // prefix sums
  bool complete_;
};

// A segment that a worker executes now.
struct Running {
  int64_t cur = 0, hi = 0;  // the worker executes unit `cur`; hi-1 is the last unit
  double elapsed = 0;       // seconds since the worker started `cur`
  double speed = 0;         // of the worker; 0: not measured yet
  // The worker's position when it started `cur`. Differs from `cur` only for the first unit of a segment.
  int64_t from = 0;
  bool copied = false;  // another worker executes `cur`, too
};

// A worker that asks for work.
struct Idle {
  int64_t from = -1;   // the first unit that it can start at; -1: any
  double speed = 0;    // 0: not measured yet
  bool copies = true;  // it may execute a unit that another worker executes
};

// The idle worker gets the units from `at` to the end of running[of]. With `copy` it executes `at` alone,
// which the other worker executes, too; the first to finish wins.
struct Share {
  std::size_t of = 0;
  int64_t at = 0;
  bool copy = false;
};

// Chooses the share for an idle worker; nullopt if none is worth it.
// Looks at the segments in the order of their expected ends, the last first. Cuts the first segment that
// gains more than a margin, where both parts end at the same time. If no cut is worth it, copies a unit whose
// worker is so slow that a second worker would overtake it. Never copies the last unit of the run, because
// the program must do only once what comes after its loop. A speed that is not measured counts as the median
// of the others. A unit that is late by t seconds is expected to take t seconds more.
std::optional<Share> share(const Times& times, const std::vector<Running>& running, const Idle& idle);

// Returns the first unit of the range that a worker of speed 1, at the start of unit `from` (-1: of the
// program), is not expected to finish in `seconds`; the end of the range if it finishes all. Keeps a fifth of
// the time as a margin.
int64_t done_within(const Times& times, int64_t from, core::UnitRange range, double seconds);

// Returns the seconds until the segment's last unit is done. Its speed must be known.
double expected_end(const Times& times, const Running& running);

// Returns the seconds until all of them are done, as `share` expects it; 0 if none runs.
double latest_end(const Times& times, const std::vector<Running>& running);

// Returns the average seconds of a proof unit of the plan: the time to reach it, and two units. These execute
// all blocks. In a brief proof they are replayed, and a part of each is added.
double proof_cost(const core::Plan& plan);

// Returns `id` + 1 if a worker of speed 1 can finish proof unit `id` in `seconds`, else `id`: the end of the
// units that it can finish, as done_within does for other units.
int64_t proof_within(const core::Plan& plan, int64_t id, double seconds);

}  // namespace flor::queue
