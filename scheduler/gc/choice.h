// Chooses the runs that `flor gc` removes as a whole. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace flor::gc {

// The facts about a run that the choice needs.
struct RunFacts {
  std::string id;
  std::string status;  // as `flor runs` shows it: completed, failed, damaged, killed, recording, unknown,
                       // unreadable
  double ended = 0;    // when its recording ended, or was last seen alive; seconds since the Unix epoch
  std::uint64_t bytes = 0;  // on the disk
  std::string busy;         // why it must not be removed now: it is recorded or replayed; else empty
  double touched = 0;       // when its manifest or its log last changed; seconds since the Unix epoch
  std::string beyond;       // checkpoints that this node cannot remove: where they lie; else empty
  std::uint64_t owner = 0;  // the user id of its owner
};

// The runs that a user wants to remove: those that meet all the given conditions.
struct Criteria {
  std::optional<double> older_than;  // seconds
  std::set<std::string> statuses;    // empty: any
  // Bytes. Removes runs of an owner, the oldest first, only while all runs of that owner together are larger.
  std::optional<std::uint64_t> max_size;
  bool any() const { return older_than || !statuses.empty() || max_size; }
};

struct Choice {
  std::vector<RunFacts> remove;  // oldest first
  std::vector<RunFacts> busy;    // would be removed as well, but are in use
};

// Returns the end of a recording: the time that it `claims`, but not later than `written`, when the file with
// the claim last changed by the file server's clock. Returns `written` if the claim is no finite number.
double sane_end(double claims, double written);

// Chooses from `runs`, and only from the ids in `among` if there are any. Chooses none without a criterion.
// The size limit counts all `runs` of one owner together.
// Motivation: counted over all owners, the data of one user, real or made up, would make root remove the runs
// of another.
Choice choose(std::vector<RunFacts> runs, const std::set<std::string>& among, const Criteria& criteria,
              double now);

}  // namespace flor::gc
