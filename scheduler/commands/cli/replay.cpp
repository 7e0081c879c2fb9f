// flor replay: asks a recorded run a question, starts workers, and watches them until it is answered.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>

#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/base/served.h"
#include "commands/cli/commands.h"
#include "commands/replay/backend.h"
#include "commands/replay/draft.h"
#include "commands/replay/dry_run.h"
#include "commands/replay/monitor.h"
#include "commands/replay/proving.h"
#include "commands/replay/replay_request.h"
#include "commands/replay/summary.h"
#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/files/durable.h"
#include "core/replaying/repetition.h"
#include "core/store/copied_run.h"
#include "core/store/proof.h"
#include "export/tensorboard.h"
#include "results/results.h"
#include "results/unfinished.h"

namespace flor::commands {
namespace {

namespace fs = std::filesystem;

constexpr auto kLeaveWithin = std::chrono::seconds(10);

struct Flags {
  std::string run, store, epochs, steps, where;
  int64_t every = 1;
  std::string workers = "auto";
  std::string probe = "auto", prove = "auto";
  bool any_device = false, whole_epochs = false, json = false, keep_queue = false, dry_run = false,
       again = false, no_copies = false;
  WorkplaceFlags place;
};

// Parses --workers. Returns nullopt for auto.
std::optional<std::size_t> workers_of(const std::string& text) {
  if (text == "auto") return std::nullopt;
  const auto n = core::parse_number<std::size_t>(text);
  if (!n || *n < 1 || *n > 100000) {
    throw core::UsageError("--workers takes auto or a number from 1 to 100000, not '" + text + "'");
  }
  return n;
}

Request request_of(const Flags& flags, const core::Store& store, const std::vector<std::string>& program) {
  Request out{core::find_ones_own(store, flags.run),
              flags.epochs,
              flags.probe,
              flags.any_device,
              program,
              flags.every,
              flags.where,
              flags.steps,
              flags.whole_epochs};
  out.prove = flags.prove;
  return out;
}

// One question, from the request to the verdict.
class Replay {
 public:
  Replay(const Flags& flags, Request request)
      : flags_(flags),
        wanted_(workers_of(flags.workers)),
        store_(store_of(flags.store)),
        request_(std::move(request)),
        asked_(ask(request_)),
        display_(flags.json ? Show::json : Show::text) {
    asked_.plan.copies = !flags.no_copies;
  }

  // After answer(): if a proof took rows back, the request that gives right rows. nullopt if the rows are
  // right, or if the user chose what executes.
  const std::optional<Request>& next() const { return next_; }

  // Answers the question, and returns the exit code.
  int answer() {
    for (const auto& note : asked_.notes) display_.say(note);
    if (flags_.dry_run) {
      dry_run(store_, asked_, wanted_, flags_.place, flags_.json);
      return kDone;
    }
    if (!flags_.again) {
      if (const auto known = answered(asked_)) return repeat(*known);
      if (const auto known = contradicted(asked_)) {
        const auto verdict = results::read_verdict(*known).value();
        if (escalate(core::read_plan(*known), verdict)) return exit_code_of(verdict.judgement);
      }
    }
    open();
    queue_ = std::make_unique<queue::Queue>(place_.redis, replay_);
    queue_->ensure(plan_);
    const std::size_t units = selected() - before_;
    const std::size_t missing = units > 0 ? units : proofs_missing(replay_, plan_).size();
    workers_ = std::min(workers_, std::max<std::size_t>(missing, 1));
    Monitor monitor(replay_, plan_, *place_.launcher, *queue_, display_, interrupt_);
    if (missing > 0) {
      const Watched watched = run_workers(monitor);
      if (watched.end != End::done) return stop(watched);
      seconds_ = watched.seconds;
      proof_errors_ = watched.proof_errors;
    }
    place_.launcher->finish(kLeaveWithin);
    return finish(monitor);
  }

 private:
  // Shows the verdict of an earlier replay.
  int repeat(const core::ReplayDir& replay) {
    const core::Plan plan = core::read_plan(replay);
    const auto verdict = results::read_verdict(replay).value();
    display_.event(summary_json(plan, verdict));
    display_.say("this was asked before, and nothing is run; --again runs it anew\n" +
                 summary(plan, verdict, true));
    return exit_code_of(verdict.judgement);
  }

  std::size_t selected() const { return asked_.plan.selected.size(); }

  // Finds an unfinished replay of the question or begins a new one, opens its launcher and Redis, and
  // publishes the plan.
  void open() {
    const core::Presence planning = lock_planning(asked_.run);
    const auto existing = unfinished(asked_);
    replay_ = existing ? *existing : asked_.run.replay(core::new_id("r"));
    if (existing) {
      core::create_directories_durably(replay_.workers());
    } else {
      draft_ = std::make_unique<Draft>(replay_);
    }
    answering_ = core::Presence::try_take(replay_.path / ".answering.lock");
    if (!answering_) {
      throw core::Error("this question is being answered by another flor replay (" + replay_.id() +
                        "); wait for it, or end it and start this again");
    }
    if (!existing && !flags_.again) adopt();
    place_ = open_workplace(store_, asked_, replay_, flags_.place);
    for (const auto& note : place_.notes) display_.say(note);
    if (existing) place_.launcher->adopt();
    workers_ = std::min(wanted_ ? *wanted_ : place_.launcher->free_places(), selected());
    plan_ = publish(asked_, replay_, workers_, !wanted_);
    display_.keep_in(replay_);
    fresh_ = !existing;
    if (existing) resume();
  }

  // Takes over units of earlier replays.
  void adopt() {
    before_ = adopt_units(asked_, replay_);
    if (before_ == 0) return;
    display_.say(std::to_string(before_) + " of " + counted(selected(), "unit") +
                 (before_ == 1 ? " is" : " are") + " known from earlier replays (--again runs all of them)");
  }

  // Goes on with an unfinished replay. Tries units again that an earlier command had given up.
  void resume() {
    before_ = units_done(replay_, plan_).size();
    display_.say("going on with replay " + replay_.id() + ": " + std::to_string(before_) + " of " +
                 counted(selected(), "unit") + (selected() == 1 ? " is done" : " are done"));
    fs::remove(replay_.failure());
    core::forget_endings(replay_);
    queue::Queue queue(place_.redis, replay_);
    const auto status = queue.status();
    const bool failed = std::any_of(status.segments.begin(), status.segments.end(),
                                    [](const auto& segment) { return segment.state == "failed"; });
    if (failed) queue.remove();  // ensure() builds it again from the store, without failed segments
  }

  Watched run_workers(Monitor& monitor) {
    try {
      launch();
    } catch (...) {
      if (fresh_) {  // no unit is done, so there is nothing to go on with
        forget();
      }
      throw;
    }
    try {
      return monitor.watch(workers_, !wanted_);
    } catch (...) {
      place_.launcher->cancel();
      throw;
    }
  }

  // Removes the replay, and cancels the workers that were started before launch() failed. Hides its own
  // failures, so that the user sees the first one. Closes the lock first: on NFS, a directory with an open
  // file cannot be removed.
  void forget() noexcept {
    try {
      place_.launcher->cancel();
    } catch (const std::exception&) {
      // The workers find no plan, and end.
    }
    try {
      queue_->remove();
    } catch (const std::exception&) {
      // Redis deletes the keys within a day.
    }
    answering_.reset();
    std::error_code ignored;
    fs::remove_all(replay_.path, ignored);
  }

  void launch() {
    const bool adopted = place_.launcher->liveness().any();
    if (!adopted) place_.launcher->start(workers_);
    display_.event({{"event", "start"},
                    {"run", plan_.run},
                    {"replay", plan_.replay},
                    {"units", selected()},
                    {"workers", workers_},
                    {"launcher", place_.launcher->name()}});
    display_.say("replay " + plan_.replay + " of run " + plan_.run + ": " + counted(selected(), "unit") +
                 ", " + place_.launcher->name() + ": " + place_.launcher->describe() +
                 (adopted ? " (still running)" : "") + ", about " + shown_seconds(plan_.makespan));
    if (const auto root = served_address(core::Store(asked_.run.path.parent_path())))
      display_.say("watch it: " + *root + "/run/" + plan_.run + "/replay/" + plan_.replay);
  }

  // Reports a failure or an interruption, and how many units are kept.
  int stop(const Watched& watched) {
    const std::size_t done = units_done(replay_, plan_).size();
    const bool interrupted = watched.end == End::interrupted;
    const std::string why = interrupted ? "stopped" : watched.why;
    display_.event({{"event", interrupted ? "stopped" : "failed"},
                    {"error", why},
                    {"done", done},
                    {"units", selected()}});
    std::string text = why;
    if (done > 0 || interrupted) {
      text += (why.find('\n') == std::string::npos ? "; " : "\nflor: ") + std::to_string(done) + " of " +
              counted(selected(), "unit") + (selected() == 1 ? " is" : " are") +
              " done and kept; the same command goes on from there";
    }
    if (!interrupted) display_.keep_failure(text);
    print_error(text);
    return kFailed;
  }

  // Gives the verdict, and removes the queue.
  int finish(Monitor& monitor) {
    results::Extras extras;
    extras.seconds = seconds_;
    extras.workers = monitor.worker_rows();
    extras.proof_errors = proof_errors_;
    const results::Verdict verdict = results::collect(asked_.run, replay_, plan_, extras);
    results::remove_unfinished(replay_);
    try {
      if (!flags_.keep_queue) queue_->remove();
    } catch (const core::Error&) {
      // What stays of the keys is deleted within a day.
    }
    display_.keep_in(std::nullopt);  // the verdict says the rest
    if (escalate(plan_, verdict)) return exit_code_of(verdict.judgement);
    const std::string missing = exporting::write_replayed_events(asked_.run);
    if (!missing.empty()) print_error("warning: the event files of TensorBoard are not written: " + missing);
    display_.event(summary_json(plan_, verdict));
    display_.say(summary(plan_, verdict, before_ == 0));
    return exit_code_of(verdict.judgement);
  }

  // If a proof contradicts the decision from the sources, prepares a request that executes more, and returns
  // true.
  bool escalate(const core::Plan& plan, const results::Verdict& verdict) {
    if (flags_.probe != "auto" || verdict.judgement != results::Judgement::unproved ||
        verdict.taken_back().empty() || !core::rests_on_skipping(plan)) {
      return false;
    }
    next_ = escalated(request_, plan, verdict);
    const auto lines = contradictions(verdict);
    display_.event({{"event", "contradicted"}, {"replay", plan.replay}, {"probes", lines}});
    for (const auto& line : lines) display_.say("a proof contradicts " + line);
    display_.say("these rows of replay " + plan.replay + " are taken back; asking again with " +
                 (next_->forced.all ? "every block" : "the blocks that they depend on") +
                 " executed from the program's start");
    return true;
  }

  const Flags& flags_;
  std::optional<std::size_t> wanted_;
  core::Store store_;
  Request request_;
  Asked asked_;
  std::optional<Request> next_;
  Display display_;
  Interrupt interrupt_;
  core::ReplayDir replay_;
  std::unique_ptr<Draft> draft_;  // of a new replay
  std::optional<core::Presence> answering_;
  Workplace place_;
  core::Plan plan_;
  std::unique_ptr<queue::Queue> queue_;
  bool fresh_ = true;  // this command began the replay
  std::size_t workers_ = 1;
  std::size_t before_ = 0;  // units that were there before this command
  double seconds_ = 0;
  std::map<int64_t, std::string> proof_errors_;
};

int replay(const Flags& flags, const std::vector<std::string>& program) {
  std::optional<Request> request = request_of(flags, store_of(flags.store), program);
  int code = kFailed;
  while (request) {
    Replay one(flags, *request);
    code = one.answer();
    request = one.next();
  }
  return code;
}

void add_sbatch_flags(CLI::App& command, dispatch::SbatchFlags& sbatch) {
  const struct {
    const char* name;
    std::string& value;
  } passed[] = {{"--partition", sbatch.partition},
                {"--qos", sbatch.qos},
                {"--time", sbatch.time},
                {"--gres", sbatch.gres},
                {"--account", sbatch.account},
                {"--constraint", sbatch.constraint},
                {"--cpus-per-task", sbatch.cpus_per_task},
                {"--mem", sbatch.mem}};
  for (const auto& option : passed) {
    command.add_option(option.name, option.value, "passed to sbatch, for each worker")->group("Slurm");
  }
  command
      .add_option("--sbatch-option", sbatch.others,
                  "any other option of sbatch, whole: --sbatch-option=--nice=100; "
                  "repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->group("Slurm");
}

}  // namespace

void add_replay(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand("replay",
                                         "Run an edited program again from a run's checkpoints, in parallel: "
                                         "flor replay RUN [flags] -- ./train …");
  auto flags = std::make_shared<Flags>();
  command->add_option("run", flags->run, "the run: its id, its name, or the beginning of its id")->required();
  command->add_option("--epochs", flags->epochs,
                      "only these iterations of the main loop (the outermost loop that ran longest): 40:60 "
                      "is 40 … 59; several with commas: 3,7,40:60");
  command->add_option(
      "--steps", flags->steps,
      "only parts of epochs that contain one of these steps: 0:100. Needs checkpoints inside epochs");
  command->add_flag("--whole-epochs", flags->whole_epochs,
                    "begin and end only between epochs, even if there are checkpoints inside them");
  command
      ->add_option("--every", flags->every,
                   "only every N-th of these epochs, counted from the first epoch of the loop")
      ->check(whole_number(1));
  command->add_option("--where", flags->where,
                      "only epochs with a recorded row that meets this condition: 'loss > 2', 'loss == NaN'");
  command->add_option("--workers", flags->workers,
                      "how many processes at a time: a number, or auto (default): as many as fit now, and "
                      "more when places become free");
  command->add_option("--probe", flags->probe,
                      "which flor::SkipBlocks are executed, not restored: auto (default: what the added logs "
                      "need), none, all, or names: train,eval");
  command->add_option("--prove", flags->prove,
                      "how many parts to execute again, with no block skipped, to confirm the added rows: "
                      "none, all, a number, brief (one, with only the first steps of each block) or auto "
                      "(default): as many as fit into 2 % of the recorded time, at least one; brief, if one "
                      "takes over 10 minutes longer than that");
  command
      ->add_option("--launcher", flags->place.launcher,
                   "slurm or local (default: slurm where it can be used)")
      ->check(CLI::IsMember({"slurm", "local"}));
  command->add_flag(
      "--any-device", flags->any_device,
      "allow other hardware than recorded. The verdict is then at best unproved: bits may differ");
  command->add_flag("--no-copies", flags->no_copies,
                    "do not let a second worker execute what a slow worker is executing");
  command->add_flag("--again", flags->again, "do not reuse the rows of earlier replays: run everything");
  command->add_flag(
      "--dry-run", flags->dry_run,
      "start nothing: show what would run, how long it would take, and what would make it faster");
  command->add_flag("--json", flags->json, "one JSON object a line on stdout; text goes to stderr");
  command->add_flag("--keep-queue", flags->keep_queue,
                    "for debugging: leave the keys of the finished replay in Redis");
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  add_sbatch_flags(*command, flags->place.sbatch);
  command->callback([flags, &outcome] { outcome.code = replay(*flags, outcome.program); });
}

}  // namespace flor::commands
