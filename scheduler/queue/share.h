// Which part of the running work an idle worker takes over, so that both end together. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/store/plan.h"

namespace flor::queue {

// What the units of a plan take a worker of speed 1, the recorded machine; seconds.
class Times {
 public:
  explicit Times(const core::Plan& plan);

  int64_t units() const;
  double work(int64_t first, int64_t end) const;  // units first … end-1, all in the selection
  // Until unit `to` can begin, of a worker that stands in front of unit `from` (-1: of the program). In a
  // complete run nothing: what entering a unit takes is part of its work.
  double lead_in(int64_t from, int64_t to) const;

 private:
  std::vector<double> work_, skip_;  // prefix sums
  bool complete_;
};

// A segment that a worker is in.
struct Running {
  int64_t cur = 0, hi = 0;  // it executes unit `cur`; its units end in front of `hi`
  double elapsed = 0;       // seconds since it took `cur` up
  double speed = 0;         // of its worker; 0: not measured yet
  int64_t from = 0;         // where its worker stood when it took `cur` up: == cur but for a segment's first
  bool copied = false;      // another worker executes `cur`, too
};

struct Idle {
  int64_t from = -1;   // the first unit it can begin at; -1: any
  double speed = 0;    // 0: not measured yet
  bool copies = true;  // may it execute what another executes?
};

// Units `at` and behind of running[of] become the idle worker's; `copy`: it executes `at`, the unit that the
// other is in, as well, and whoever is done first wins.
struct Share {
  std::size_t of = 0;
  int64_t at = 0;
  bool copy = false;
};

// The segment that is expected to end last is cut where both parts end at the same time, when that is sooner
// by more than the margin; else the next one. Where nothing can be cut, a unit whose worker is so slow that
// a second one would overtake it is copied, but not the run's last: what the program does behind its loop
// happens once. Speeds that are not measured are taken to be the median of the others. A unit that takes
// longer than it should is expected to take as long again as it is late.
std::optional<Share> share(const Times& times, const std::vector<Running>& running, const Idle& idle);

// A worker of speed 1 that stands in front of unit `from` (-1: of the program) executes the units of the
// range in order. The first of them that it is not expected to be done with in `seconds`, of which a fifth is
// margin; the range's end where it is done with all.
int64_t done_within(const Times& times, int64_t from, core::UnitRange range, double seconds);

// Seconds until the segment's last unit is done; its speed must be known.
double expected_end(const Times& times, const Running& running);

// Seconds until the last of them is done, as `share` expects it; 0 where nothing runs.
double latest_end(const Times& times, const std::vector<Running>& running);

// Seconds that a proof unit of the plan takes on average: two units with every block executed, or, where the
// proof is brief, as they are replayed and a part of each; and the way to them.
double proof_cost(const core::Plan& plan);

// A worker of speed 1 that has `seconds` left and could execute proof unit `id`: the end of the ids that it
// is done with by then, `id` or `id` + 1.
int64_t proof_within(const core::Plan& plan, int64_t id, double seconds);

}  // namespace flor::queue
