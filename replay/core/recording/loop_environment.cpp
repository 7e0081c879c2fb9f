#include "core/recording/loop_environment.h"

#include "core/session/mismatch.h"

namespace flor::core {

void LoopEnvironment::enter(Frontend& frontend, Recording& recording, bool resumed) {
  Manifest& manifest = recording.manifest();
  if (!resumed) {
    environment_ = frontend.environment();
    preset_ = frontend.preset();
    if (manifest.loops.empty()) keep(manifest);
    return;
  }
  environment_ = manifest.environment;
  preset_ = manifest.preset;
  frontend.apply(environment_);
  const std::string differences = mismatch(environment_, frontend.environment());
  if (differences.empty()) return;
  recording.remark("resumed in another environment, so that bits may differ from here on: " + differences);
}

void LoopEnvironment::keep(Manifest& manifest) const {
  manifest.environment = environment_;
  manifest.preset = preset_;
}

}  // namespace flor::core
