// Finds the run that a step of a requeued Slurm job recorded before the job was requeued.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/store/manifest.h"
#include "core/store/store.h"

namespace flor::core {

// The parts of a launch id, [CLUSTER.]JOB.STEP.RESTART.
struct LaunchId {
  std::string job;   // with its cluster: "main.42"
  std::string step;  // a number or "batch"
  int64_t restart = 0;
};
// std::nullopt for an id of another form, as that of a launch outside of Slurm.
std::optional<LaunchId> launch_id_from(const std::string& id);

// Returns why the run cannot be that of this step: its name, its directory or its arguments are others.
std::optional<std::string> why_another_step(const Manifest& manifest);

// Returns the run that this step recorded at an earlier start of its job; std::nullopt where none is found.
// Whether it can be resumed is not asked.
// Motivation: steps that start together get their numbers in any order, and a script may leave out steps when
// it runs again. So a run counts as this step's only if its name, directory and arguments fit; and where
// steps differ in their environment alone (`SEED=1 srun … & SEED=2 srun … &`), only if that fits, too. Where
// that cannot be told, prints so: to train anew is better than to go on with another step's weights.
std::optional<RunDir> run_of_earlier_start(const Store& store, const std::string& launch);

// Where several programs ran in this step at an earlier start of the job, one of them was recorded. Returns
// its run, if that program was not this one and may go on with it: then it has the first claim to the launch.
std::optional<RunDir> run_of_another_program(const Store& store, const std::string& launch);

}  // namespace flor::core
