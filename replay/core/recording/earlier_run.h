// Which run a recording goes on with, where an earlier attempt of it was ended: by preemption, a time limit,
// a crash.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/config/settings.h"
#include "core/store/manifest.h"
#include "core/store/store.h"

namespace flor::core {

// The run that FLOR_RESUME names, else the one that the same Slurm job recorded before it was requeued.
// Nothing: a new one is recorded; where that is so though the job has an unfinished one, it is said why.
// Throws UsageError when the run that FLOR_RESUME names cannot be gone on with.
std::optional<RunDir> run_to_resume(const Settings& settings);

// The same; where that run cannot be gone on with, says so and ends the process: to train from the start,
// unrecorded, is not what was asked for.
std::optional<RunDir> run_to_resume_or_leave(const Settings& settings);

// Did a user ask to go on with a run? Else Slurm put the job back into the queue: training goes on in any
// case.
bool was_resumption_asked_for();

// One line: a new run is recorded instead of this one.
void say_not_resumed(const RunDir& run, const std::string& why);

// Why nobody can go on with the run; nothing when somebody can.
std::optional<std::string> why_not_resumable(const RunDir& run, const Manifest& manifest);

// The launches [CLUSTER.]JOB.STEP.RESTART before `launch`, newest first; none of one that is no Slurm step's.
std::vector<std::string> earlier_launches(const std::string& launch);

}  // namespace flor::core
