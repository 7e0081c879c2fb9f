// Decides when an end of the main loop that the record does not know counts (docs/semantics.md, rule 14). A
// file server that is away for a minute, or one node without the data set, ends a loop as well, and does so
// at every execution. So the end must repeat, over some time, and on a second node where the replay has one.
//
// What was seen is kept in a file for each unit (docs/formats.md, "Endings"), since the process starts anew
// for each execution.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/store/store.h"

namespace flor::core {

// One execution of a unit that ended as the record does not know.
struct Ending {
  // Digest of all that the unit wrote, without volatile rows.
  std::string outcome;
  std::string node;
  // Wall clock, in seconds.
  double time = 0;
};

struct ExecuteAgain {
  // It did not end as the last execution did, so this counts as a failed try of the unit.
  bool is_failed_try = false;
  // Seconds to wait before.
  double pause = 0;
};

// Returns std::nullopt where the end counts. `of_unit`: the unit's endings in order, the present one last;
// must not be empty. `elsewhere`: endings of other units for the same reason. `has_other_nodes`: another node
// works for this replay. `span`: over how many seconds the end must have been seen.
std::optional<ExecuteAgain> weigh(const std::vector<Ending>& of_unit, const std::vector<Ending>& elsewhere,
                                  bool has_other_nodes, double span);

// Keeps that the unit ended on this node with this outcome, and returns what weigh() says. Throws
// std::system_error or Error where the files cannot be read or written.
std::optional<ExecuteAgain> see_ending(const ReplayDir& replay, int64_t unit, const std::string& outcome,
                                       const std::string& why);

// Forgets all endings. What was seen long ago says nothing of a passing fault.
void forget_endings(const ReplayDir& replay);

}  // namespace flor::core
