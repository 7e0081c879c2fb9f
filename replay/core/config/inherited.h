// Tells which of Slurm's variables a job has from the job that submitted it.
// Motivation: sbatch exports its whole environment, and Slurm sets on the node only what the new job has. A
// job without an array keeps the array around it, and one that starts for the first time the restarts of the
// job around it. Scripts read these, so they stay as they are. Flor must not take them for the job's: its
// first requeue could have the same count, and so the same launch.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace flor::core {

// The variable that names them, separated by spaces. The plugin sets it for a step that it records or has
// replay, only where there are any. Slurm lets this prefix through even with --export=NONE.
inline constexpr const char* inherited_variable = "SLURM_SPANK_FLOR_INHERITED";

// Returns the value of a variable, or "" if it is not set.
using ReadVariable = std::function<std::string(const char*)>;

// What Slurm knows of a job: how often it was started again, and of which array it is a task.
struct JobNumbers {
  std::int64_t restarts = 0;
  std::int64_t array = 0;  // 0: none
};

// Are there any variables that can be another job's? Without one, there is no need to ask Slurm.
bool may_be_inherited(const ReadVariable& environment);

// Returns the value for `inherited_variable`: what `environment` has, and the job has not. "": nothing.
std::string inherited_names(const ReadVariable& environment, const JobNumbers& job);

// Returns a variable of Slurm's, or "" where it is not set or not the job's.
std::string slurm_variable(const ReadVariable& environment, const std::string& name);
// The same, in the environment of this process; std::nullopt instead of "".
std::optional<std::string> slurm_variable(const char* name);

}  // namespace flor::core
