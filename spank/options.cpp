#include "options.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace flor::spank {
namespace {

// Where an option has an effect.
enum class Use { anywhere, recording, replay };

struct Row {
  const char* name;
  const char* argument;  // nullptr: takes none
  const char* help;
  const char* variable;
  Use use;
};

// In the order of enum Option.
const std::array<Row, kOptionCount> kTable{{
    {"flor-record", nullptr, "record this training run (one task), to be replayed later", "FLOR_RECORD",
     Use::anywhere},
    {"flor-epsilon", "E",
     "with --flor-record: how much longer training may take, as a share (default 0.0667)", "FLOR_EPSILON",
     Use::recording},
    {"flor-store", "DIR",
     "the directory of the runs, absolute, seen by all nodes (default $FLOR_STORE, else ~/.flor)",
     "FLOR_STORE", Use::anywhere},
    {"flor-name", "NAME", "with --flor-record: a name for the run. You can have each name once in a store",
     "FLOR_NAME", Use::recording},
    {"flor-arg", "NAME=VALUE", "a hyper-parameter for flor::arg; may be given several times", "FLOR_ARGS",
     Use::anywhere},
    {"flor-materializer", "HOW",
     "with --flor-record: how checkpoints are written: inline, thread, fork, fork-batch or auto (default "
     "auto)",
     "FLOR_MATERIALIZER", Use::recording},
    {"flor-mtbf", "TIME",
     "with --flor-record: the time between failures of your jobs, on average (12h, 2d), so that little is "
     "lost",
     "FLOR_MTBF", Use::recording},
    {"flor-local", "DIR",
     "with --flor-record: a fast directory of the node (absolute path) where checkpoints are written first",
     "FLOR_LOCAL", Use::recording},
    {"flor-keep", "N", "with --flor-record: keep the newest N checkpoints of each kind, or all (default)",
     "FLOR_KEEP", Use::recording},
    {"flor-resume", "RUN",
     "continue the recording of RUN (id or name), whose program was stopped before its end", "FLOR_RESUME",
     Use::anywhere},
    {"flor-replay", "RUN", "be a worker of a replay of RUN (id or name) or of RUN/REPLAY; every task is one",
     "FLOR_REPLAY", Use::anywhere},
    {"flor-probe", "WHICH",
     "with --flor-replay: flor::SkipBlocks to execute, not restore: auto, none, all or BLOCK,... (default "
     "auto)",
     "FLOR_PROBE", Use::replay},
    {"flor-epochs", "A:B", "with --flor-replay: only the main loop's iterations A to B-1", "FLOR_EPOCHS",
     Use::replay},
}};

// Never destroyed: srun calls slurm_spank_exit from an exit handler that was registered before the statics
// were created, and so runs after their destructors.
Options& mutable_options() {
  static auto& options = *new Options;
  return options;
}

Problem check(const Row& row, const std::string& value) {
  const std::string key = std::string(row.name).substr(std::string("flor-").size());
  return row.argument == nullptr ? Problem() : check_value(key, value);
}

// Returns the variable in which sbatch and salloc pass an option on.
std::string handed_on(const Row& row) {
  std::string variable = "SLURM_SPANK__SLURM_SPANK_OPTION_flor_" + std::string(row.name);
  std::replace(variable.begin(), variable.end(), '-', '_');
  return variable;
}

Problem problem_with(Option option, const std::string& value) {
  const Options& given = options();
  const bool records = option == kRecord || option == kResume;
  if ((records && given.has(kReplay)) || (option == kReplay && given.records())) {
    return "cannot go with the other of --flor-record and --flor-replay (set for the job, perhaps); give "
           "each to a step of its own";
  }
  return check(kTable[option], value);
}

// Slurm's callback for each given option. In slurmstepd of 22.05 it comes twice: for an option without an
// argument, first with NULL and then with "". In the user's commands, a negative result refuses the command,
// even if the plugin is `optional`.
int option_given(int number, const char* argument, int remote) noexcept try {
  const auto option = static_cast<Option>(number);
  const std::string value = kTable[option].argument != nullptr && argument != nullptr ? argument : "1";
  if (remote == 0) {
    const Problem problem = problem_with(option, value);
    if (!problem.empty()) {
      const std::string shown = kTable[option].argument != nullptr ? "=" + value : "";
      slurm_error("flor: --%s%s: %s", kTable[option].name, shown.c_str(), problem.c_str());
      return -1;
    }
  }
  Options& given = mutable_options();
  if (option == kArg) given.arguments.push_back(value);
  given.value[option] = value;
  return 0;
} catch (...) {
  return 0;
}

}  // namespace

const Options& options() {
  return mutable_options();
}

const char* variable_of(Option option) {
  return kTable[option].variable;
}

int register_options(spank_t spank) {
  for (int option = 0; option < kOptionCount; ++option) {
    const Row& row = kTable[option];
    // spank.h has no const; Slurm copies the strings.
    spank_option entry{const_cast<char*>(row.name),
                       const_cast<char*>(row.argument),
                       const_cast<char*>(row.help),
                       row.argument != nullptr ? 1 : 0,
                       option,
                       option_given};
    const spank_err_t error = spank_option_register(spank, &entry);
    if (error != ESPANK_SUCCESS) slurm_error("flor: no option --%s: %s", row.name, spank_strerror(error));
  }
  return 0;
}

std::vector<std::string> options_without_use(const Environment& environment) {
  const Options& given = options();
  const bool records = given.records() || environment("FLOR_RECORD") == "1";
  const bool replays = given.has(kReplay) || !environment("FLOR_REPLAY").empty();
  std::vector<std::string> out;
  for (int option = 0; option < kOptionCount; ++option) {
    const Row& row = kTable[option];
    const bool fits = row.use == Use::anywhere || (row.use == Use::recording ? records : replays);
    // Do not warn of an option of the whole job: it is for those of its steps that record.
    if (fits || !given.value[option] || is_of_job(static_cast<Option>(option), environment)) continue;
    const char* wanted = row.use == Use::recording ? "--flor-record" : "--flor-replay";
    out.push_back("--" + std::string(row.name) + " has no effect without " + wanted);
  }
  return out;
}

bool is_of_job(Option option, const Environment& environment) {
  return !environment(handed_on(kTable[option]).c_str()).empty();
}

void adopt_from_environment(const Environment& environment) {
  for (int option = 0; option < kOptionCount; ++option) {
    const Row& row = kTable[option];
    const std::string value = environment(handed_on(row).c_str());
    // Slurm writes "(null)" for an option without an argument. Check the value again, because other programs
    // than sbatch can set the environment.
    const bool good = !value.empty() && check(row, value).empty();
    if (good) option_given(option, value.c_str(), 1);
  }
}

void drop_handed_on() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name = std::string(*entry).substr(0, std::string(*entry).find('='));
    if (name.find("_SLURM_SPANK_OPTION_flor_") != std::string::npos) names.push_back(name);
  }
  for (const auto& name : names) unsetenv(name.c_str());
}

std::string merge_arguments(const std::string& text, const std::vector<std::string>& added) {
  std::vector<std::string> lines;
  std::istringstream input(text);
  for (std::string line; std::getline(input, line);) lines.push_back(std::move(line));
  lines.insert(lines.end(), added.begin(), added.end());

  std::string merged;
  for (auto line = lines.begin(); line != lines.end(); ++line) {
    const std::string key = line->substr(0, line->find('=') + 1);
    bool later = key.empty();  // drops an empty line, and one without '='
    for (auto other = line + 1; other != lines.end() && !later; ++other) later = other->rfind(key, 0) == 0;
    if (!later) merged += (merged.empty() ? "" : "\n") + *line;
  }
  return merged;
}

}  // namespace flor::spank
