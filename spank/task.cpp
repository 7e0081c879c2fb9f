// Runs in the task's own process on its node, as the user, just before it becomes the user's program.
//
// Each step of srun is recorded, as a launch of its own, and so is the batch step, for a script that trains
// without srun. One training cannot become two runs: in a launch, the first process that reaches a main loop
// takes the run, and a script that only calls srun never reaches one. The extern step and an interactive step
// (the shell of salloc) do not train, so nothing is set for them.

#include "task.h"

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "answer.h"
#include "cluster.h"
#include "core/base/printable.h"
#include "core/config/inherited.h"
#include "core/config/python_hook.h"
#include "launch.h"
#include "options.h"
#include "srun.h"
#include "store.h"
#include "task_environment.h"

namespace flor::spank {
namespace {

// How long a task's start waits for the store, and for Slurm.
constexpr auto kPatience = std::chrono::seconds(30);

std::uint32_t number(spank_t spank, spank_item_t item, std::uint32_t otherwise) {
  std::uint32_t value = otherwise;
  return spank_get_item(spank, item, &value) == ESPANK_SUCCESS ? value : otherwise;
}

// Slurm has changed to the task's directory before.
std::string program_of(spank_t spank) {
  int count = 0;
  char** words = nullptr;
  if (spank_get_item(spank, S_JOB_ARGV, &count, &words) != ESPANK_SUCCESS || words == nullptr) return "";
  std::error_code ignored;
  return program_digest(std::filesystem::current_path(ignored).string(), {words, words + count});
}

// The launch for which the store is checked.
struct Task {
  std::string launch;
  // array_of_launch()
  std::string array;
  // A program_digest(); none for the batch step.
  std::optional<std::string> program;
  // Slurm started the job again: it was requeued.
  bool restarted = false;
};

// The result of the checks.
struct Found {
  std::string store;   // its path
  std::string run;     // what --flor-resume or --flor-replay means: RUN or RUN/REPLAY
  Problem problem;     // why the task must not start
  std::string python;  // the task's PYTHONPATH, with the hook in front
};

// Packs the result into one text, because answer_within() passes a text between processes.
std::string text_of(const Found& found) {
  std::string out;
  for (const auto* part : {&found.store, &found.run, &found.problem, &found.python}) out += *part + '\0';
  return out;
}

Found found_from(const std::string& text) {
  Found found;
  std::size_t at = 0;
  for (auto* part : {&found.store, &found.run, &found.problem, &found.python}) {
    const auto end = text.find('\0', at);
    *part = text.substr(at, end - at);
    at = end + 1;
  }
  return found;
}

Problem no_such_run(const std::string& asked, const Store& store) {
  return asked + ": no such run in store " + store.path + " (" + store.origin +
         "); `flor runs` lists the runs";
}

void look_for_recording(const Store& store, const Task& task, Found& found) {
  found.problem = create_store(store);
  if (found.problem.empty()) found.problem = check_writable(store);
  if (!found.problem.empty()) return;
  const auto& label = options().value[kName];
  const auto& resumed = options().value[kResume];
  if (resumed) {
    // The library checks whether the run can be resumed.
    found.run = resolve_replay(store, *resumed);
    if (found.run.empty()) found.problem = no_such_run("--flor-resume=" + *resumed, store);
  } else if (label && !task.restarted) {
    // When a job starts again, the library records under the run's id where the label is taken.
    found.problem = check_label_free(store, *label, task.launch, task.array);
  }
  // Do this last: it tells srun that the step began.
  if (found.problem.empty()) found.problem = begin_launch(store, task.launch, task.program);
}

void look_for_replay(const Store& store, Found& found) {
  const std::string& asked = *options().value[kReplay];
  found.run = resolve_replay(store, asked);
  if (found.run.empty()) {
    found.problem = no_such_run("--flor-replay=" + asked, store);
  } else {
    found.problem = check_writable(store);
  }
}

// Returns where the task's `flor` may lie: as FLOR_BIN and PATH say, and beside this plugin in
// PREFIX/lib/slurm or PREFIX/lib/TRIPLET/slurm.
std::vector<std::filesystem::path> bins_of(const Environment& environment) {
  auto out = core::directories_of(environment("FLOR_BIN") + ":" + environment("PATH"));
  Dl_info info = {};
  if (::dladdr(reinterpret_cast<const void*>(&task_init), &info) != 0 && info.dli_fname != nullptr) {
    const auto lib = std::filesystem::path(info.dli_fname).parent_path().parent_path();
    out.push_back(lib.parent_path() / "bin");
    out.push_back(lib.parent_path().parent_path() / "bin");
  }
  return out;
}

// Does everything that touches the store or the user's home directory, and so may hang.
Found look_at_store(const Task& task, const Environment& environment) {
  Found found;
  try {
    const Store store = resolve_store(options().value[kStore], environment);
    found.store = store.path;
    if (options().records()) look_for_recording(store, task, found);
    if (options().has(kReplay)) look_for_replay(store, found);
    // Lets the package for Python into a program that does not import it.
    found.python =
        core::with_python_hook(core::python_folder(bins_of(environment)), environment("PYTHONPATH"));
  } catch (const std::exception& failure) {
    found.problem = failure.what();
  }
  return found;
}

void set_for_recording(TaskEnvironment& environment, const Task& task, const Found& found) {
  // A step around this one may have resumed a run: that is not this step's.
  environment.put_back("FLOR_RESUME");
  if (!found.run.empty()) environment.set("FLOR_RESUME", found.run);
  environment.set("FLOR_RECORD", "1");
  environment.set("FLOR_LAUNCH", task.launch);
  // Reserved for data-parallel recording: one task is rank 0 of 1.
  environment.set("FLOR_RANK", "0");
  environment.set("FLOR_WORLD", "1");
  // The flag overrides an environment that asks for a replay.
  environment.unset("FLOR_REPLAY");
}

void set_for_replay(TaskEnvironment& environment, const Found& found) {
  environment.put_back("FLOR_RESUME");
  environment.set("FLOR_REPLAY", found.run);
  environment.unset("FLOR_RECORD");
}

// Logs one line, whatever characters a path has. Only the first task logs.
void say(spank_t spank, const std::string& line) {
  if (number(spank, S_TASK_GLOBAL_ID, 0) == 0) slurm_error("flor: %s", core::printable(line).c_str());
}

// Ends this task, and so the step, before the program starts.
// Motivation: Slurm does this for a `required` plugin (exec_task() in its task.c), but ignores the result of
// an `optional` one (_do_call_stack() in plugstack.c). And `required` is too strict: a plugin that cannot be
// loaded would stop every job.
[[noreturn]] void refuse(spank_t spank, const Problem& problem) {
  say(spank, problem);
  _exit(1);
}

// To resume or to replay makes no sense without the store.
bool can_do_without_store() {
  return options().records() && !options().has(kResume);
}

void go_on_unrecorded(spank_t spank, const Problem& why) {
  for (const char* name : {"FLOR_RECORD", "FLOR_RESUME", "FLOR_LAUNCH", "FLOR_REPLAY"})
    spank_unsetenv(spank, name);
  say(spank, "warning: not recorded: " + why);
}

// Handles a store that does not answer. A new recording is given up, so that the training starts.
void go_on_without_store(spank_t spank) {
  const std::string flag = options().value[kStore].value_or("the store");
  const std::string why = flag + " does not answer within " + std::to_string(kPatience.count()) + " s";
  if (!can_do_without_store())
    refuse(spank, why + "; choose another store with --flor-store, or try again when it does");
  go_on_unrecorded(spank, why);
}

// Handles a store that cannot be used. Where the job starts for the first time, its user is told before the
// training begins. One that is started again has trained already, and trains on: its own checkpoints may have
// filled the quota.
void handle_problem(spank_t spank, const Task& task, const Problem& problem) {
  if (!task.restarted || !can_do_without_store()) refuse(spank, problem);
  go_on_unrecorded(spank, problem);
}

// The batch step is one process, but there Slurm gives the count of the whole job.
bool is_of_several_tasks(spank_t spank, bool batch) {
  return !batch && options().records() && number(spank, S_JOB_TOTAL_TASK_COUNT, 1) > 1;
}

// Handles a step of several tasks. Where the job is to be recorded, its other steps may be what was meant,
// and this one runs as it is. Where a run is to be resumed, it would train from the start.
void handle_several_tasks(spank_t spank, const Environment& environment) {
  const std::string why = "a step of several tasks cannot be recorded yet";
  const bool resumes = options().has(kResume);
  if (resumes || !is_of_job(kRecord, environment)) {
    refuse(spank, std::string(resumes ? "--flor-resume: " : "--flor-record: ") + why +
                      "; use one task (srun -n1), or give the flag only to the srun that trains");
  }
  go_on_unrecorded(spank, why);
}

// Notes which of Slurm's variables the batch script has from the job that submitted it. For a step, srun has
// noted them. Without an answer, all count as this job's.
void note_inherited(spank_t spank, std::uint32_t job, const Environment& environment) {
  spank_unsetenv(spank, core::inherited_variable);
  if (!core::may_be_inherited(environment)) return;
  const auto names = answer_within(kPatience, [&] {
    const auto numbers = numbers_of_job(job);
    return numbers ? core::inherited_names(environment, *numbers) : "";
  });
  if (names && !names->empty()) spank_setenv(spank, core::inherited_variable, names->c_str(), 1);
}

// Sets the variables that need no look at the store.
void set_values(TaskEnvironment& environment) {
  const Options& given = options();
  for (const Option option : {kEpsilon, kName, kMaterializer, kMtbf, kLocal, kKeep, kProbe, kEpochs}) {
    if (given.has(option)) environment.set(variable_of(option), *given.value[option]);
  }
  if (!given.has(kArg)) return;
  const std::string carried = merge_arguments(environment.get(kCarriedArguments), given.arguments);
  const char* variable = variable_of(kArg);
  environment.set(variable, merge_arguments(environment.get(variable) + "\n" + carried, {}));
}

}  // namespace

int task_init(spank_t spank) {
  const std::uint32_t step = number(spank, S_JOB_STEPID, 0);
  if (step == kExternStep || step == kInteractiveStep) return 0;
  const std::uint32_t job = number(spank, S_JOB_ID, 0);
  TaskEnvironment environment(spank, job);
  if (environment.is_of_another_job()) {
    environment.put_all_back();
    return 0;
  }
  const auto reader = [&environment](const char* name) { return environment.get(name); };
  const bool batch = step == kBatchStep;
  if (batch) adopt_from_environment(reader);
  const Options& given = options();
  set_values(environment);
  if (!given.records() && !given.has(kReplay)) {
    if (given.has(kStore))
      environment.set(variable_of(kStore), resolve_store(given.value[kStore], reader).path);
    return 0;
  }

  const std::string cluster = cluster_name();
  if (!cluster.empty()) environment.set("FLOR_CLUSTER", cluster);
  if (is_of_several_tasks(spank, batch)) {
    handle_several_tasks(spank, reader);
    return 0;
  }
  if (batch) note_inherited(spank, job, reader);
  const std::string restarts = core::slurm_variable(reader, "SLURM_RESTART_COUNT");
  const std::string launch = launch_id(cluster, job, step, restarts.c_str());
  const Task task{launch, array_of_launch(launch, core::slurm_variable(reader, "SLURM_ARRAY_JOB_ID")),
                  batch ? std::nullopt : std::optional(program_of(spank)),
                  !restarts.empty() && restarts != "0"};
  const auto answer = answer_within(kPatience, [&] { return text_of(look_at_store(task, reader)); });
  if (!answer) {
    go_on_without_store(spank);
    return 0;
  }
  const Found found = found_from(*answer);
  if (!found.problem.empty()) {
    handle_problem(spank, task, found.problem);
    return 0;
  }
  environment.set(variable_of(kStore), found.store);
  if (given.records()) set_for_recording(environment, task, found);
  if (given.has(kReplay)) set_for_replay(environment, found);
  if (!found.python.empty()) environment.set("PYTHONPATH", found.python);
  if (environment.get("PYTHONHASHSEED").empty()) environment.set("PYTHONHASHSEED", core::hash_seed);
  return 0;
}

}  // namespace flor::spank
