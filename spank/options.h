// The --flor-* options that the plugin adds to srun, sbatch and salloc, and their values.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "slurm_spank.h"
#include "store.h"

namespace flor::spank {

enum Option {
  kRecord,
  kEpsilon,
  kStore,
  kName,
  kArg,
  kMaterializer,
  kMtbf,
  kLocal,
  kKeep,
  kResume,
  kReplay,
  kProbe,
  kEpochs,
  kOptionCount
};

// The values of the options, from the command line, from #SBATCH lines, or from the job's environment.
struct Options {
  std::array<std::optional<std::string>, kOptionCount> value;
  // All values of --flor-arg in order; value[kArg] has only the last. On the node Slurm passes only the last:
  // see carry_arguments (srun.h).
  std::vector<std::string> arguments;

  bool has(Option option) const { return value[option].has_value(); }
  // A resumed recording is a recording.
  bool records() const { return has(kRecord) || has(kResume); }
};

// Returns the options of this process.
const Options& options();

// Returns the environment variable that an option becomes, such as FLOR_EPSILON.
const char* variable_of(Option option);

// Removes from this command's environment the options of the job that it was typed in. Call it before Slurm
// reads them there, as it does when all plugins have registered theirs. salloc hands them on under two names.
void drop_handed_on();

// Registers the options with Slurm. Call it from slurm_spank_init in every context: sbatch and salloc ignore
// the static table of spank.h.
int register_options(spank_t spank);

// Returns a warning for each option of this srun that has no effect, because it does not record or does not
// replay. The warning names the option that is missing. Leaves out options of the whole job: other steps may
// use them.
std::vector<std::string> options_without_use(const Environment& environment);

// Was the option given to sbatch or salloc, for all steps of the job?
bool is_of_job(Option option, const Environment& environment);

// Takes the options from a batch script's environment. With --export=NONE or NIL, Slurm does not call back
// for them in the batch step (tried with 22.05), although their variables are set.
void adopt_from_environment(const Environment& environment);

// Returns `text` (lines NAME=VALUE) followed by `added`, with each name once: its last value wins.
std::string merge_arguments(const std::string& text, const std::vector<std::string>& added);

}  // namespace flor::spank
