// Holes in the files of an earlier attempt (files/json_lines.h): which rows a resumption logs again, and
// which would be missing for ever.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/store/manifest.h"
#include "core/store/store.h"

namespace flor::core {

// Which places of a run a resumption may restore instead of executing them.
class Restorable {
 public:
  // `checkpoints`: the scope paths of all that are still there.
  explicit Restorable(const std::vector<std::string>& checkpoints);
  // May a resumption restore the place of a row? True also where the order of the row and a checkpoint is not
  // known.
  bool has(const std::string& at) const;

 private:
  std::map<std::string, int64_t> iterations_;  // of an outermost loop: the last value that is restored whole
  std::set<std::string> blocks_;
  // By iteration ("epoch=3"): a loop in it ("epoch=3/train#0/step=") and its last step that is restored.
  std::map<std::string, std::pair<std::string, int64_t>> steps_;
};

// Ends the files of a killed recording in front of their first holes. Of the timeline, keeps later rows that
// invalidate checkpoints. Does nothing to files without a hole. Throws Error where rows of the log would be
// missing: the recording was not killed, or a checkpoint is later than a row that was lost. Also throws Error
// where another process goes on with the run.
void end_at_holes(const RunDir& run, const Manifest& manifest);

}  // namespace flor::core
