// Which whole runs go. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace flor::gc {

// What is known of a run.
struct RunFacts {
  std::string id;
  std::string status;  // as `flor runs` shows it: completed, failed, damaged, killed, recording, unknown,
                       // unreadable
  double ended = 0;    // when its recording ended, or was last seen; seconds since the epoch of Unix
  std::uint64_t bytes = 0;  // on the disk
  std::string busy;         // why it cannot be touched now: it is being recorded, or replayed
  double touched = 0;       // when its manifest or its log last changed
  std::string beyond;       // what removing it here leaves behind: gc::beyond_reach()
  std::uint64_t owner = 0;  // the user whose it is
};

// Which runs a user wants to be rid of. All conditions that are given must hold.
struct Criteria {
  std::optional<double> older_than;       // seconds
  std::set<std::string> statuses;         // empty: any
  std::optional<std::uint64_t> max_size;  // remove no more than makes each owner's runs as small as this
  bool any() const { return older_than || !statuses.empty() || max_size; }
};

struct Choice {
  std::vector<RunFacts> remove;  // oldest first
  std::vector<RunFacts> busy;    // would go, too
};

// When the recording ended that says that it `claims`, if `written` is when the file that says so last
// changed by the file server's clock. An end after that, or no time at all, is not taken over.
double sane_end(double claims, double written);

// `among`: of these ids only; empty: of all. The size is that of all `runs` of one owner together.
// Motivation: else one user's bulk, real or made up, would remove another's runs where root clears away.
Choice choose(std::vector<RunFacts> runs, const std::set<std::string>& among, const Criteria& criteria,
              double now);

}  // namespace flor::gc
