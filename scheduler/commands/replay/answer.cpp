#include "commands/replay/answer.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "commands/base/exit_code.h"
#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/base/served.h"
#include "commands/replay/draft.h"
#include "commands/replay/dry_run.h"
#include "commands/replay/monitor.h"
#include "commands/replay/proving.h"
#include "commands/replay/summary.h"
#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/replaying/repetition.h"
#include "core/store/copied_run.h"
#include "core/store/proof.h"
#include "export/tensorboard.h"
#include "results/failure.h"
#include "results/results.h"
#include "results/unfinished.h"

namespace flor::commands {
namespace {

namespace fs = std::filesystem;

constexpr auto kLeaveWithin = std::chrono::seconds(10);

// One question, from the request to the verdict.
class Replay {
 public:
  Replay(const Manner& manner, Request request)
      : manner_(manner),
        store_(store_of(manner.store)),
        request_(std::move(request)),
        asked_(ask(request_)),
        display_(manner.json ? Show::json : Show::text) {
    asked_.plan.copies = manner.copies;
  }

  // After answer(): the request that gives right rows, if a proof took rows back, or if a worker lacked
  // state. nullopt if the rows are right, or if the user chose what executes.
  const std::optional<Request>& next() const { return next_; }

  // Answers the question, and returns the exit code.
  int answer() {
    for (const auto& note : asked_.notes) display_.say(note);
    if (manner_.dry_run) {
      dry_run(store_, asked_, manner_.workers, manner_.place, manner_.json);
      return kDone;
    }
    if (!manner_.again) {
      if (const auto known = answered(asked_)) {
        const auto verdict = results::read_verdict(*known).value();
        if (execute_for_proof(*known, core::read_plan(*known), verdict))
          return exit_code_of(verdict.judgement);
        return repeat(*known);
      }
      if (const auto known = contradicted(asked_)) {
        const auto verdict = results::read_verdict(*known).value();
        if (escalate(core::read_plan(*known), verdict)) return exit_code_of(verdict.judgement);
      }
    }
    if (const auto known = unfinished(asked_)) {
      const auto failure = results::read_failure(*known);
      if (failure && failure->lacks_state && execute_more(core::read_plan(*known), failure->error))
        return kFailed;
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
    if (!existing && !manner_.again) adopt();
    place_ = open_workplace(store_, asked_, replay_, manner_.place);
    for (const auto& note : place_.notes) display_.say(note);
    if (existing) place_.launcher->adopt();
    workers_ = std::min(manner_.workers ? *manner_.workers : place_.launcher->free_places(), selected());
    plan_ = publish(asked_, replay_, workers_, !manner_.workers);
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
      return monitor.watch(workers_, !manner_.workers);
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
    if (watched.lacks_state && execute_more(plan_, watched.why)) return kFailed;
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
      if (!manner_.keep_queue) queue_->remove();
    } catch (const core::Error&) {
      // What stays of the keys is deleted within a day.
    }
    display_.keep_in(std::nullopt);  // the verdict says the rest
    if (escalate(plan_, verdict) || execute_for_proof(replay_, plan_, verdict))
      return exit_code_of(verdict.judgement);
    const std::string missing = exporting::write_replayed_events(asked_.run);
    if (!missing.empty()) print_error("warning: the event files of TensorBoard are not written: " + missing);
    display_.event(summary_json(plan_, verdict));
    display_.say(summary(plan_, verdict, before_ == 0));
    return exit_code_of(verdict.judgement);
  }

  // A worker lacked state (`why`). Prepares a request that executes more, and returns true, unless the user
  // chose what executes.
  bool execute_more(const core::Plan& plan, const std::string& why) {
    if (request_.probe != "auto") return false;
    next_ = executing_more(request_, plan);
    if (!next_) return false;
    const std::string what =
        next_->forced.from_start ? "every block executed from the program's start" : "every block executed";
    display_.event({{"event", "lacking"}, {"replay", plan.replay}, {"error", why}});
    display_.say(why + "; asking again with " + what);
    return true;
  }

  // A replay that executes every block, since one before it lacked state, gave all rows, but no worker could
  // execute a proof unit: a checkpoint in front of it lacks that state, too. Prepares a request that begins
  // at no checkpoint, and returns true.
  bool execute_for_proof(const core::ReplayDir& replay, const core::Plan& plan,
                         const results::Verdict& verdict) {
    if (!request_.forced.all || verdict.judgement != results::Judgement::unproved) return false;
    if (proofs_missing(replay, plan).empty()) return false;
    return execute_more(
        plan, proof_errors_.empty() ? "a proof unit was not executed" : proof_errors_.begin()->second);
  }

  // If a proof contradicts the decision from the sources, prepares a request that executes more, and returns
  // true.
  bool escalate(const core::Plan& plan, const results::Verdict& verdict) {
    if (request_.probe != "auto" || verdict.judgement != results::Judgement::unproved ||
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

  const Manner& manner_;
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

}  // namespace

int answer(const Manner& manner, Request first) {
  std::optional<Request> request = std::move(first);
  int code = kFailed;
  while (request) {
    Replay one(manner, *request);
    code = one.answer();
    request = one.next();
  }
  return code;
}

}  // namespace flor::commands
