// The rows of a run as they come, long before its end.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/store/plan.h"
#include "core/store/store.h"
#include "results/rows.h"

namespace flor::results {

// Not thread-safe. Both calls throw core::Error naming a damaged file.
class Follower {
 public:
  virtual ~Follower() = default;

  // Will no more rows come than the next more() returns?
  virtual bool ended() = 0;
  // The rows that came since the last call, in order.
  virtual std::vector<Row> more() = 0;
  // Why it ended before all rows were there; empty where it did not.
  virtual std::string failure() { return ""; }
};

// A recording that goes on: its log, whole lines of it. Of a resumed one, rows that an earlier attempt wrote
// come again.
std::unique_ptr<Follower> follow_record(const core::RunDir& run);

// A replay: the rows of its committed units, in program order as far as they are contiguous, or, not
// `ordered`, as the units are committed.
std::unique_ptr<Follower> follow_replay(const core::ReplayDir& replay, core::Plan plan, bool ordered);

}  // namespace flor::results
