#include "core/resuming/taken_launch.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "core/base/clock.h"
#include "core/base/messages.h"
#include "core/base/parse_number.h"
#include "core/base/valid_id.h"
#include "core/config/settings.h"
#include "core/files/durable.h"
#include "core/files/existence.h"
#include "core/process/process.h"
#include "core/resuming/earlier_run.h"
#include "core/resuming/start_environment.h"
#include "core/store/manifest.h"
#include "core/store/owner.h"

namespace flor::core {
namespace {

std::atomic<bool> in_group{false};

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

bool was_started_by(const std::string& host, int64_t pid) {
  return host == node_name() && is_started_by(pid);
}

// The recording process writes its owner file before its manifest.
bool was_started_by_owner(const RunDir& run) {
  const auto found = find_owner(run);
  return found && was_started_by(found->owner.host, found->owner.pid);
}

// Returns when `happened` does, and at the latest after these seconds.
void wait_until(double seconds, const std::function<bool()>& happened) {
  const double end = monotonic_seconds() + seconds;
  while (!happened() && monotonic_seconds() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

}  // namespace

void leave_to_recorder(const Store& store, const std::string& launch) {
  const std::string id = store.launched(launch).value_or("");
  if (!is_valid_id(id)) return;
  const RunDir run = store.run(id);
  std::optional<Manifest> manifest;
  wait_until(5, [&] { return (manifest = manifest_of(run)).has_value(); });
  if (!manifest) {
    // It may be the same program, whose sources take long to copy. A run that is not resumed is the lesser
    // loss.
    if (is_there(run.path) && !was_started_by_owner(run)) mark_several(run);
    return;
  }
  const std::string remedy = "; give each program a launch of its own (srun or flor record)";
  if (!run.is_being_recorded()) {
    say("not recorded: this launch (" + launch + ") has recorded run " + id + " already" + remedy);
    return;
  }
  if (was_started_by(manifest->host, manifest->pid)) return;
  if (is_same_program(*manifest)) {
    mark_several(run);
    return;
  }
  store.mark_launch_shared(launch);
  say("not recorded: run " + id + " of this launch (" + launch + ") is that of another program" + remedy);
}

void note_group() {
  in_group = true;
}

bool is_in_group() {
  return in_group;
}

bool is_one_of_several() {
  if (is_in_group()) return true;
  // Set by torchrun, by srun, and by mpirun of Open MPI, of MPICH and of MVAPICH2.
  for (const char* name :
       {"WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"}) {
    if (parse_number<int64_t>(environment_variable(name).value_or("")).value_or(1) > 1) return true;
  }
  return false;
}

void mark_several(const RunDir& run) {
  publish_once(run.several(), "");
}

void wait_for_its_program(const Store& store, const std::string& launch, const RunDir& run) {
  bool came = false;
  wait_until(10, [&] { return came = store.launched(launch).has_value(); });
  if (!came)
    say("run " + run.id() +
        " of this job is not resumed, a new one is recorded: it is that of another program of " +
        "this launch (" + launch + "), which did not come back within 10 s");
}

}  // namespace flor::core
