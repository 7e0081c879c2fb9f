// In the task's own process on its node, as the user, just before it becomes the user's program.
//
// Which steps are recorded: those of srun, each as a launch of its own, and the batch step, so that a script
// that trains without srun is recorded too. These cannot become two runs by accident: within a launch the
// first process to reach a main loop takes the run, and a script that only calls srun never reaches one. The
// extern step and an interactive step (salloc's shell) hold no training and get nothing.

#include "task.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "launch.h"
#include "options.h"
#include "srun.h"
#include "store.h"

namespace flor::spank {
namespace {

// The task's environment, not slurmstepd's. Of any length, which spank_getenv and its buffer are not.
std::string task_variable(spank_t spank, const char* name) {
  char** entries = nullptr;
  if (spank_get_item(spank, S_JOB_ENV, &entries) != ESPANK_SUCCESS || entries == nullptr) return "";
  const std::string prefix = std::string(name) + "=";
  for (; *entries != nullptr; ++entries) {
    const std::string entry = *entries;
    if (entry.rfind(prefix, 0) == 0) return entry.substr(prefix.size());
  }
  return "";
}

std::uint32_t number(spank_t spank, spank_item_t item, std::uint32_t otherwise) {
  std::uint32_t value = otherwise;
  return spank_get_item(spank, item, &value) == ESPANK_SUCCESS ? value : otherwise;
}

void set(spank_t spank, const char* name, const std::string& value) {
  const spank_err_t error = spank_setenv(spank, name, value.c_str(), 1);
  if (error != ESPANK_SUCCESS) slurm_error("flor: %s cannot be set: %s", name, spank_strerror(error));
}

struct Task {
  spank_t spank;
  Store store;
  std::string launch;
  bool batch;
};

Problem no_such_run(const std::string& asked, const Store& store) {
  return asked + ": no such run in store " + store.path + " (" + store.origin +
         "); `flor runs` lists the runs";
}

Problem prepare_recording(const Task& task) {
  // In the batch step, which is one process, the count is that of the job.
  if (!task.batch && number(task.spank, S_JOB_TOTAL_TASK_COUNT, 1) > 1) {
    return "--flor-record: a step of several tasks cannot be recorded yet; use one task (srun -n1), or give "
           "the flag only to the srun that trains";
  }
  Problem problem = create_store(task.store);
  if (problem.empty()) problem = check_writable(task.store);
  // No process of this launch has run yet: what goes by its name in the store is of another cluster, or of
  // this one before its controller forgot its jobs. The library would take the launch for recorded.
  if (problem.empty()) unlink(launch_file(task.store.path, task.launch).c_str());
  const auto& label = options().value[kName];
  const auto& resumed = options().value[kResume];
  if (problem.empty() && resumed) {
    // That it can be gone on with is for the library to tell.
    const std::string run = resolve_replay(task.store, geteuid(), *resumed);
    if (run.empty()) return no_such_run("--flor-resume=" + *resumed, task.store);
    set(task.spank, "FLOR_RESUME", run);
  } else if (problem.empty() && label) {
    problem = check_label_free(task.store, geteuid(), *label, task.launch);
  }
  if (!problem.empty()) return problem;

  set(task.spank, "FLOR_RECORD", "1");
  set(task.spank, "FLOR_LAUNCH", task.launch);
  // The place of data-parallel recording: one task is rank 0 of 1.
  set(task.spank, "FLOR_RANK", "0");
  set(task.spank, "FLOR_WORLD", "1");
  // An environment that asks for a replay is overruled by the flag.
  spank_unsetenv(task.spank, "FLOR_REPLAY");
  if (!task.batch) {
    // For srun's warning only: a failure here is no reason not to train.
    const std::string launches = task.store.path + "/.launches";
    if (mkdir(launches.c_str(), 0777) == 0)
      chmod(launches.c_str(), 01777);  // every user's, as the library has it
    write_file(begun_file(task.store.path, task.launch));
  }
  return "";
}

Problem prepare_replay(const Task& task) {
  const std::string& asked = *options().value[kReplay];
  const std::string replay = resolve_replay(task.store, geteuid(), asked);
  if (replay.empty()) {
    return no_such_run("--flor-replay=" + asked, task.store);
  }
  Problem problem = check_writable(task.store);
  if (!problem.empty()) return problem;
  set(task.spank, "FLOR_REPLAY", replay);
  spank_unsetenv(task.spank, "FLOR_RECORD");
  return "";
}

// Ends this task, and with it the step, before the program starts. Slurm does the same for a `required`
// plugin (exec_task() in its task.c) but drops the result of an `optional` one (_do_call_stack() in
// plugstack.c), and required is too much: then a plugin that cannot be loaded stops every job.
[[noreturn]] void refuse(spank_t spank, const Problem& problem) {
  if (number(spank, S_TASK_GLOBAL_ID, 0) == 0) slurm_error("flor: %s", problem.c_str());
  _exit(1);
}

}  // namespace

int task_init(spank_t spank) {
  const std::uint32_t step = number(spank, S_JOB_STEPID, 0);
  if (step == kExternStep || step == kInteractiveStep) return 0;
  const auto environment = [spank](const char* name) { return task_variable(spank, name); };
  if (step == kBatchStep) adopt_from_environment(environment);
  const Options& given = options();

  for (const Option option : {kEpsilon, kName, kMaterializer, kMtbf, kLocal, kKeep, kProbe, kEpochs}) {
    if (given.has(option)) set(spank, variable_of(option), *given.value[option]);
  }
  if (given.has(kArg)) {
    const std::string carried = merge_arguments(environment(kCarriedArguments), given.arguments);
    set(spank, variable_of(kArg), merge_arguments(environment(variable_of(kArg)) + "\n" + carried, {}));
  }
  if (!given.records() && !given.has(kReplay) && !given.has(kStore)) return 0;

  const Store store = resolve_store(given.value[kStore], environment);
  set(spank, variable_of(kStore), store.path);
  const std::string launch =
      launch_id(number(spank, S_JOB_ID, 0), step, environment("SLURM_RESTART_COUNT").c_str());
  const Task task{spank, store, launch, step == kBatchStep};
  Problem problem;
  if (given.records()) problem = prepare_recording(task);
  if (given.has(kReplay)) problem = prepare_replay(task);
  if (!problem.empty()) refuse(spank, problem);
  return 0;
}

}  // namespace flor::spank
