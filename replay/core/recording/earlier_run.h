// Finds the run that a recording resumes, after an earlier attempt was ended by preemption, a time limit or a
// crash.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/config/settings.h"
#include "core/session/session.h"
#include "core/store/manifest.h"
#include "core/store/store.h"

namespace flor::core {

// Returns the run that FLOR_RESUME names, else the one that the same Slurm job recorded before it was
// requeued. std::nullopt: there is none to resume, or another process of this launch has begun a run. If the
// job has an unfinished run, prints why it is not resumed. Throws UsageError if the run that FLOR_RESUME
// names cannot be resumed.
std::optional<RunDir> run_to_resume(const Settings& settings);

// As run_to_resume(). But where a user asked for the resumption and it cannot begin, prints the error and
// ends the process: the user did not ask for training from the start.
std::optional<RunDir> run_to_resume_or_leave(const Settings& settings);

// Returns whether a user asked for the resumption. Otherwise Slurm requeued the job, and training goes on in
// any case.
bool was_resumption_asked_for();

// Was the run removed since a requeued job chose to resume it, before its first loop? Then prints one line.
// False where a user asked for the resumption; there it is an error.
bool is_gone(const RunDir& run);

// Returns true if the loop that begins runs over other values than the run of a requeued job recorded for it:
// the job may find other data. Prints why the run is not resumed; the caller then records a new run. Always
// false if a user asked for the resumption; there such a mismatch is an error.
bool is_loop_another(const RunDir& run, const std::string& name, const LoopSpec& loop);

// Returns why the run cannot be resumed; std::nullopt if it can.
std::optional<std::string> why_not_resumable(const RunDir& run, const Manifest& manifest);

// Returns why the program was recorded with other command-line arguments than it has now.
std::optional<std::string> why_other_arguments(const Manifest& manifest);

}  // namespace flor::core
