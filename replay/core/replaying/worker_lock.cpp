#include "core/replaying/worker_lock.h"

#include <unistd.h>

#include <chrono>
#include <exception>
#include <thread>

#include "core/base/clock.h"
#include "core/base/messages.h"
#include "core/config/settings.h"
#include "core/process/process.h"
#include "core/replaying/planned_program.h"
#include "core/store/manifest.h"
#include "core/store/owner.h"
#include "core/store/plan.h"
#include "core/store/scope.h"

namespace flor::core {
namespace {

// May the holder be a process of this one's task? Process numbers tell it on one kernel, in one namespace.
bool is_of_this_task(const Owner& holder, const Owner& here) {
  if (holder.boot != here.boot || holder.pids != here.pids) return false;
  return is_started_by(holder.pid) || is_started_beside(holder.pid);
}

bool has_arguments_of_helper(const RunDir& run, const ReplayDir& replay) {
  try {
    return has_other_arguments(read_plan(replay), read_manifest(run));
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

std::string worker_name() {
  std::string name = node_name();
  for (const char* variable :
       {"SLURM_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_STEP_ID", "SLURM_PROCID", "FLOR_WORKER"}) {
    if (auto part = environment_variable(variable)) name += "." + *part;
  }
  if (name == node_name()) name += "." + std::to_string(::getpid());
  return clean_name(name);
}

std::optional<Presence> take_worker_lock(const RunDir& run, const ReplayDir& replay, double patience) {
  const std::string name = worker_name();
  const fs::path lock = replay.workers() / (name + ".lock");
  const Owner here = this_process(replay.workers());
  const double until = monotonic_seconds() + patience;
  std::optional<Owner> holder;
  while (true) {
    if (auto taken = Presence::try_take(lock)) return taken;
    holder = present_process(lock);
    if (holder && is_of_this_task(*holder, here)) return std::nullopt;
    if (monotonic_seconds() >= until) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  if (has_arguments_of_helper(run, replay)) return std::nullopt;
  const std::string process =
      holder ? "process " + std::to_string(holder->pid) + " on " + holder->host : "another process";
  say("error: " + process + " is the worker " + name + " of replay " + replay.id() +
      " already; this one ends, as it would train the whole program; end the other process, or wait for it");
  leave_process(1);
}

}  // namespace flor::core
