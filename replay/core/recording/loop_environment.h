// The environment that a loop is recorded in: threads, device, versions, and what a launcher sets for them.
// It is taken at the loop's entry, where the program has set its own threads and flags.
#pragma once

#include <map>
#include <string>

#include "core/recording/recording.h"

namespace flor::core {

class LoopEnvironment {
 public:
  // Call at a loop's entry. With `resumed`, sets the environment of the earlier attempt, and remarks what
  // still differs.
  void enter(Frontend& frontend, Recording& recording, bool resumed);

  // Writes this loop's environment into the manifest. Call for the loop that ran longest so far: a replay
  // must have that loop's environment.
  void keep(Manifest& manifest) const;

 private:
  std::map<std::string, std::string> environment_, preset_;
};

}  // namespace flor::core
