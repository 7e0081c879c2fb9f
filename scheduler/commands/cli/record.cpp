// flor record: runs a program and records it, without Slurm.
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <optional>
#include <system_error>

#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/cli/commands.h"
#include "commands/sources/python_hook.h"
#include "commands/sources/unheld.h"
#include "core/base/error.h"
#include "core/base/messages.h"
#include "core/base/units_text.h"
#include "core/checkpoint/recorded_timeline.h"
#include "core/config/inherited.h"
#include "core/config/redis_setting.h"
#include "core/config/settings.h"
#include "core/config/values.h"
#include "core/files/durable.h"
#include "core/resuming/earlier_run.h"
#include "core/store/manifest.h"
#include "core/store/timeline.h"
#include "dispatch/process.h"

namespace flor::commands {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::string epsilon, store, name;
  std::string every, materializer, mtbf, local, keep, resume;
  std::vector<std::string> args;
};

std::atomic<pid_t> training{0};

// Passes a signal on to the program. A Ctrl-C on the terminal (SI_KERNEL) reaches the program by itself.
void pass_on(int signal, siginfo_t* info, void*) {
  const pid_t pid = training.load();
  if (pid > 0 && info->si_code != SI_KERNEL) ::kill(pid, signal);
}

// A setting of the recording whose value is checked, from the flag or else from the settings.
struct Setting {
  const char* key;
  std::string Flags::*flag;
};

const Setting settings_to_check[] = {
    {"epsilon", &Flags::epsilon}, {"every", &Flags::every}, {"materializer", &Flags::materializer},
    {"mtbf", &Flags::mtbf},       {"local", &Flags::local}, {"keep", &Flags::keep},
    {"name", &Flags::name}};

void pass_settings(const Flags& flags, const core::Settings& settings,
                   std::map<std::string, std::string>& environment) {
  for (const auto& setting : settings_to_check) {
    const std::string& flag = flags.*setting.flag;
    const auto value = flag.empty() ? settings.get(setting.key) : flag;
    if (!value) continue;
    const std::string variable = core::Settings::variable_of(setting.key);
    const core::SettingForm& form = core::setting_form(setting.key);
    if (!form.fits(*value)) {
      throw core::UsageError(std::string(setting.key) + " is " + form.what + "; '" + *value + "' is not (--" +
                             setting.key + ", " + variable + ", or " + setting.key + " in flor.conf)");
    }
    // Only flags are passed on. The library reads the settings itself, and knows which of them apply to a
    // resumed run.
    if (!flag.empty()) environment[variable] = flag;
  }
}

// Removes the password from FLOR_REDIS. The program does not need it, and the agent reads it from the user's
// files.
void hide_password(const core::Settings& settings, std::map<std::string, std::string>& environment) {
  const auto at = environment.find("FLOR_REDIS");
  if (at == environment.end() || core::without_password(at->second) == at->second) return;
  if (!core::is_found_without_password(settings, at->second)) {
    std::cerr
        << "flor: warning: FLOR_REDIS holds a password and is not passed on, so this recording tells no "
           "progress: keep it as `redis = URL` in ~/.config/flor/flor.conf (chmod 600)\n";
  }
  at->second = core::without_password(at->second);
}

// Has Slurm started this job before?
bool is_requeued() {
  return core::environment_variable("SLURM_JOB_ID") &&
         core::slurm_variable("SLURM_RESTART_COUNT").value_or("0") != "0";
}

// Did this job record the run, before Slurm started the job again?
bool is_of_earlier_start(const core::RunDir& run) {
  const auto job = core::environment_variable("SLURM_JOB_ID");
  if (!job || !is_requeued()) return false;
  try {
    return core::read_manifest(run).slurm_job == *job;
  } catch (const std::exception&) {
    return false;
  }
}

// Throws where another run has the name. Where a requeued job has it from its earlier start, the recording
// goes by its id and says so: a training that began once must begin again.
void require_free(const core::Store& store, const std::string& name) {
  const std::string run = store.label_target(name);
  if (run.empty() || is_of_earlier_start(store.run(run))) return;
  throw core::UsageError("the name '" + name + "' is taken by run " + run + " in the store " +
                         store.path().string() + "; choose another (--name)");
}

// Returns true if training is to begin although the store cannot be written: a requeued job has trained
// already, and its own checkpoints may have filled the quota. Prints why it is not recorded. Throws where the
// user is to be told before anything begins.
bool goes_on_unrecorded(const core::Store& store, bool resumes) {
  try {
    store.require_writable();
    return false;
  } catch (const std::exception& problem) {
    if (!is_requeued() || resumes) throw;
    print_error(std::string("warning: not recorded: ") + problem.what());
    return true;
  }
}

void require_resumable(const core::RunDir& run) {
  const auto why = core::why_not_resumable(run, core::read_manifest(run));
  if (why) throw core::UsageError("run " + run.id() + " cannot be resumed: " + *why);
}

// Returns the arguments of the environment followed by those of the flags. If a name comes twice, the last
// one counts.
std::string arguments_of(const std::vector<std::string>& flags) {
  std::string lines = core::environment_variable("FLOR_ARGS").value_or("");
  for (const auto& arg : flags) {
    const core::SettingForm& form = core::setting_form("arg");
    if (!form.fits(arg))
      throw core::UsageError("--arg takes " + std::string(form.what) + "; '" + arg + "' is not");
    if (!lines.empty() && lines.back() != '\n') lines += '\n';
    lines += arg;
  }
  return lines;
}

int run_to_end(const dispatch::Spawn& what) {
  struct sigaction action = {};
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
    struct sigaction before = {};
    ::sigaction(signal, &action, &before);
    if (before.sa_handler == SIG_IGN)
      ::sigaction(signal, &before, nullptr);  // keep it ignored (nohup); the program inherits that
  }
  training = dispatch::spawn(what);
  int status = 0;
  while (::waitpid(training, &status, 0) < 0) {
    if (errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "cannot wait for the program");
  }
  training = 0;
  return dispatch::exit_code_of(status);
}

// Prints one line about the recording, to stderr: stdout belongs to the program.
void report(const core::Store& store, const std::string& launch, const std::string& program) {
  const auto recorded = store.launched(launch);
  if (!recorded) {
    core::warn(
        "nothing was recorded: " + program +
        " reached no loop of flor's; in C++ write the main loop as flor::loop and link libflor, in Python "
        "name one that is no `for` loop over training with flor.loop");
    return;
  }
  const core::RunDir run = store.run(*recorded);
  const core::Manifest manifest = core::read_manifest(run);
  const auto timeline = core::recorded_timeline(run);
  const auto checkpoints = core::kept_checkpoints(timeline).size();
  // Another attempt may have begun meanwhile, if this node was cut off.
  const std::string status = manifest.status != "recording" ? manifest.status
                             : run.is_being_recorded()      ? "a further attempt goes on with it"
                                                            : "killed";
  print_error("recorded run " + run.id() + (manifest.name.empty() ? "" : " (" + manifest.name + ")") + ": " +
              status + ", " + counted(checkpoints, "checkpoint"));
}

void record(Flags flags, Outcome& outcome) {
  if (flags.resume.empty()) flags.resume = core::Settings::asked("resume").value_or("");
  if (outcome.program.empty()) {
    throw core::UsageError("flor record runs the program behind --: flor record -- ./train");
  }
  const core::Settings settings = core::Settings::load();
  const std::string name = flags.name.empty() ? settings.get("name").value_or("") : flags.name;
  const core::Store store = store_of(flags.store);

  dispatch::Spawn what;
  what.command = outcome.program;
  what.environment = dispatch::present_environment();
  for (const char* other : {"FLOR_REPLAY", "FLOR_PROBE", "FLOR_EPOCHS"}) what.environment.erase(other);
  pass_settings(flags, settings, what.environment);
  const std::string arguments = arguments_of(flags.args);
  hide_password(settings, what.environment);
  dispatch::find_program(outcome.program.front());  // before anything is written
  // A program asks for its arguments whether or not it is recorded.
  if (!arguments.empty()) what.environment["FLOR_ARGS"] = arguments;
  if (goes_on_unrecorded(store, !flags.resume.empty())) {
    what.environment.erase("FLOR_RECORD");
    outcome.code = run_to_end(what);
    return;
  }
  if (!flags.resume.empty()) require_resumable(store.find(flags.resume));
  if (!name.empty() && flags.resume.empty()) require_free(store, name);

  const std::string launch = core::new_id("local-");
  auto& environment = what.environment;
  environment["FLOR_RECORD"] = "1";
  environment["FLOR_STORE"] = store.path().string();
  environment["FLOR_LAUNCH"] = launch;
  add_own_directory(environment);
  add_python_hook(environment);
  if (!name.empty()) environment["FLOR_NAME"] = name;
  if (!flags.resume.empty()) environment["FLOR_RESUME"] = store.find(flags.resume).id();

  // If the program names no sources, because a script starts the real one, the library prints these warnings.
  environment.erase("FLOR_UNHELD");
  const std::string shown = name.empty() ? "RUN" : name;
  if (flags.resume.empty() && warn_before_start(dispatch::find_program(outcome.program.front()), shown))
    environment["FLOR_UNHELD"] = "said";

  outcome.code = run_to_end(what);
  try {
    // The library has reported why the run cannot be resumed.
    if (!flags.resume.empty() && outcome.code != 0 && !store.launched(launch)) return;
    report(store, launch, outcome.program.front());
  } catch (const std::exception& problem) {
    print_error(std::string("warning: ") + problem.what());  // the exit code stays that of the program
  }
}

}  // namespace

void add_record(CLI::App& app, Outcome& outcome) {
  CLI::App* command =
      app.add_subcommand("record", "Run a program and record it: flor record [flags] -- ./train …");
  auto flags = std::make_shared<Flags>();
  command->add_option(
      "--epsilon,--flor-epsilon", flags->epsilon,
      "how much longer training may take because of recording, as a share (default 0.0667: 6.67 %)");
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->add_option("--name,--flor-name", flags->name,
                      "a name for the run. You can have each name once in a store");
  command->add_option("--every,--flor-every", flags->every,
                      "take a checkpoint after every N-th execution of a block, whatever it costs (default "
                      "0: when --epsilon allows it)");
  command->add_option("--materializer,--flor-materializer", flags->materializer,
                      "how checkpoints are written: inline (training waits), thread (in the background), "
                      "fork and fork-batch (by a child process), or auto (default)");
  command->add_option("--mtbf,--flor-mtbf", flags->mtbf,
                      "the time between failures of your jobs, on average (12h, 2d): checkpoints are taken "
                      "so often that little is lost, within --epsilon");
  command->add_option("--local,--flor-local", flags->local,
                      "a fast directory of the node (absolute path): checkpoints are written there first, "
                      "then copied to the store");
  command->add_option(
      "--keep,--flor-keep", flags->keep,
      "keep the newest N checkpoints of each block, of the iterations and of the steps, or all (default)");
  command->add_option("--resume,--flor-resume", flags->resume,
                      "continue the recording of this run, whose program was stopped before its end");
  command
      ->add_option("--arg,--flor-arg", flags->args, "a hyper-parameter for flor::arg, NAME=VALUE; repeatable")
      ->take_all()
      ->allow_extra_args(false);
  command->callback([flags, &outcome] { record(*flags, outcome); });
}

}  // namespace flor::commands
