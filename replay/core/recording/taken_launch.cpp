#include "core/recording/taken_launch.h"

#include <optional>

#include "core/base/messages.h"
#include "core/base/valid_id.h"
#include "core/config/settings.h"
#include "core/recording/earlier_run.h"
#include "core/recording/start_environment.h"
#include "core/store/manifest.h"
#include "core/store/owner.h"

namespace flor::core {
namespace {

// std::nullopt where the recording process has not written it yet.
std::optional<Manifest> manifest_of(const RunDir& run) {
  try {
    return read_manifest(run);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

bool is_same_program(const Manifest& manifest) {
  return !why_other_arguments(manifest) && manifest.start_environment == start_environment();
}

bool was_started_by_recorder(const Manifest& manifest) {
  return manifest.host == node_name() && is_started_by(manifest.pid);
}

}  // namespace

void leave_to_recorder(const Store& store, const std::string& launch) {
  const std::string id = store.launched(launch).value_or("");
  if (!is_valid_id(id)) return;
  const RunDir run = store.run(id);
  const auto manifest = manifest_of(run);
  const std::string remedy = "; give each program a launch of its own (srun or flor record)";
  if (manifest && !run.is_being_recorded()) {
    say("not recorded: this launch (" + launch + ") has recorded run " + id + " already" + remedy);
    return;
  }
  if (manifest && (is_same_program(*manifest) || was_started_by_recorder(*manifest))) return;
  store.mark_launch_shared(launch);
  if (manifest)
    say("not recorded: run " + id + " of this launch (" + launch + ") is that of another program" + remedy);
}

}  // namespace flor::core
