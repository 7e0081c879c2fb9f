// Follows the rows of a recording or of a replay while it goes on, for `flor log --follow`.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/store/plan.h"
#include "core/store/store.h"
#include "results/rows/rows.h"

namespace flor::results {

// Not thread-safe. Both calls throw core::Error naming a damaged file.
class Follower {
 public:
  virtual ~Follower() = default;

  // Returns true if the next call of more() returns the last rows.
  virtual bool ended() = 0;
  // Returns the rows added since the last call, in order.
  virtual std::vector<Row> more() = 0;
  // Returns why it ended before all rows were there. Empty: it did not.
  virtual std::string failure() { return ""; }
};

// Follows the log of a recording, whole lines only. If it was resumed, rows of an earlier attempt appear
// again.
std::unique_ptr<Follower> follow_record(const core::RunDir& run);

// Follows the committed units of a replay: in program order as far as they are contiguous, or as they are
// committed if not `ordered`.
std::unique_ptr<Follower> follow_replay(const core::ReplayDir& replay, core::Plan plan, bool ordered);

}  // namespace flor::results
