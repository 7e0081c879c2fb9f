// Asks Slurm for the state of the job that recorded a run.
#pragma once

#include <optional>
#include <string>

#include "core/store/liveness.h"
#include "core/store/owner.h"

namespace flor::core {

// No job waits or runs longer than this: 90 days.
constexpr double longest_job_s = 90.0 * 24 * 3600;

// Returns the state of `job` in `listing`, the output of `squeue --noheader --states=all --array --format="%A
// %T"`. Pure.
JobState state_in(const std::string& listing, const std::string& job);

// Returns the value of `name` in the output of `scontrol show config`; empty where it is absent. Pure.
std::string config_value(const std::string& config, const std::string& name);

// Shell text that leaves out of PATH, by builtins alone, the parts that are relative: they would lead to a
// program that another user put into the working directory. Ends with "; ".
extern const char* const absolute_path;

// Runs a command of Slurm's. What of the user's environment names another cluster, or changes what squeue
// prints, is left out. Returns what it prints; std::nullopt where it fails or takes 10 s. `command` must hold
// no text from a file or a user. Thread-safe.
std::optional<std::string> ask_slurm(const std::string& command);

// Asks the controller, at most once in 10 s for each user; blocks up to 10 s for each question. Returns
// `unknown` also where it does not answer, belongs to another cluster, or the job is another user's, which a
// site may hide. Thread-safe.
JobState state_of_job(const Owner& owner);

// Will the job that recorded the run resume it? possible: the job waits to be started again, or runs again,
// perhaps before its first loop. unknown: this machine has Slurm's commands, and they do not tell, as where
// slurmctld does not answer or the job is another cluster's.
enum class MayResume { none, possible, unknown };
MayResume may_resume(const RunDir& run);

}  // namespace flor::core
