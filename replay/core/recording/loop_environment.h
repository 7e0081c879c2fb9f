// What a loop was recorded in: threads, device, versions, and what a launcher sets for that. The program has
// set its own threads and flags when it enters its first loop.
#pragma once

#include <map>
#include <string>

#include "core/recording/recording.h"

namespace flor::core {

class LoopEnvironment {
 public:
  // At a loop's entry. `resumed`: it is to be as it was in the earlier attempt; what cannot be is remarked.
  void enter(Frontend& frontend, Recording& recording, bool resumed);

  // This loop's is what a replay must have: of the one that ran longest so far.
  void keep(Manifest& manifest) const;

 private:
  std::map<std::string, std::string> environment_, preset_;
};

}  // namespace flor::core
