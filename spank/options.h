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

// What was given on the command line, in #SBATCH lines, or came with the job's environment.
struct Options {
  std::array<std::optional<std::string>, kOptionCount> value;
  // Every --flor-arg in order; value[kArg] is only the last. On the node only the last is known: see
  // carry_arguments.
  std::vector<std::string> arguments;

  bool has(Option option) const { return value[option].has_value(); }
  // A resumed recording is a recording.
  bool records() const { return has(kRecord) || has(kResume); }
};

// The options of this process.
const Options& options();

// The environment variable that an option becomes, e.g. FLOR_EPSILON.
const char* variable_of(Option option);

// Makes the options known to Slurm. To be called from slurm_spank_init in every context: the static table of
// spank.h is ignored by sbatch and salloc.
int register_options(spank_t spank);

// Of those that this srun was given itself: one line for each that does nothing here, with the option that it
// wants beside it.
std::vector<std::string> options_without_use(const Environment& environment);

// Takes the options from a batch script's environment. Under --export=NONE or NIL Slurm does not call back
// for them in the batch step (22.05, tried), though their variables are there.
void adopt_from_environment(const Environment& environment);

// `text` (lines NAME=VALUE) with `added` behind it, each name once: the last wins.
std::string merge_arguments(const std::string& text, const std::vector<std::string>& added);

}  // namespace flor::spank
