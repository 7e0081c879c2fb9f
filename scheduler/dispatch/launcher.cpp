#include "dispatch/launcher.h"

#include <algorithm>
#include <iterator>
#include <thread>

#include "core/base/backoff.h"
#include "core/config/inherited.h"

namespace flor::dispatch {

Environment worker_environment(const WorkerOrder& order) {
  Environment out = present_environment();
  // `flor replay` may itself run in a job with Flor's flags. Remove its settings, and the flags that Slurm
  // would pass on to the srun of the workers.
  for (const char* name :
       {"FLOR_RECORD", "FLOR_LAUNCH", "FLOR_PROBE", "FLOR_EPOCHS", "FLOR_NAME", "FLOR_ARGS", "FLOR_RESUME",
        "SLURM_SPANK_FLOR_ARGS", "SLURM_SPANK_FLOR_SET", core::inherited_variable}) {
    out.erase(name);
  }
  for (auto at = out.begin(); at != out.end();) {
    at = at->first.find("SLURM_SPANK_OPTION_flor_") == std::string::npos ? std::next(at) : out.erase(at);
  }
  for (const auto& [name, value] : order.environment) out[name] = value;
  return out;
}

void Launcher::finish(std::chrono::milliseconds at_most) {
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  Liveness now = liveness_now();
  // Most workers end at once. Ask less and less often, because an answer may need a server.
  core::Backoff pauses(std::chrono::milliseconds(100), std::chrono::milliseconds(1000));
  // Do not wait for workers that have not started: they would find no work.
  while (now.running > 0 && std::chrono::steady_clock::now() < deadline) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    std::this_thread::sleep_for(std::min(pauses.next(), left));
    now = liveness_now();
  }
  if (now.any() || now.stuck > 0) cancel();
}

}  // namespace flor::dispatch
