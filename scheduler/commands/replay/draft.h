// The directory of a new replay, before its plan.
#pragma once

#include "core/store/store.h"

namespace flor::commands {

// Creates the directory. Removes it again if the replay gets no plan, and only if that is certain.
class Draft {
 public:
  explicit Draft(core::ReplayDir replay);
  ~Draft();
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

 private:
  core::ReplayDir replay_;
};

}  // namespace flor::commands
