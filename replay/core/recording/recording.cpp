#include "core/recording/recording.h"

#include <algorithm>
#include <utility>

#include "core/base/clock.h"
#include "core/base/ends_within.h"
#include "core/base/error.h"
#include "core/base/messages.h"
#include "core/base/shell_words.h"
#include "core/base/units_text.h"
#include "core/config/tools.h"
#include "core/config/values.h"
#include "core/events/live_events.h"
#include "core/process/spawn.h"
#include "core/resuming/earlier_run.h"
#include "core/resuming/patience.h"
#include "core/resuming/resumption.h"
#include "core/resuming/takeover.h"

namespace flor::core {
namespace {

// Of each kind.
constexpr std::size_t most_reports = 20;
// Seconds for what is written after the last checkpoint, and between two tries of what took longer.
constexpr double end_margin = 10, pause_seconds = 60;

AgentClient::Hello hello(const BegunRun& begun) {
  AgentClient::Hello hello;
  hello.mode = "record";
  hello.run = begun.run.id();
  hello.run_dir = begun.run.path.string();
  hello.local = begun.manifest.local;
  return hello;
}

// Returns the name by which its user asks for the run.
const std::string& called(const Manifest& manifest) {
  return manifest.name.empty() ? manifest.id : manifest.name;
}

// Warns about values that blocks change and do not hold. This library does not read sources, so it starts
// `flor` in a process of its own. `flor record` has already warned where it could.
void warn_of_unheld(const BegunRun& begun) {
  if (begun.manifest.sources.empty() || environment_variable("FLOR_UNHELD")) return;
  const std::string tool = find_tool("flor");
  const std::string store = begun.run.path.parent_path().string();
  if (!tool.empty()) start_detached({tool, "unheld", begun.run.id(), "--store", store}, true);
}

// Goes on with the states of the earlier attempts. Where these cannot be read, they are only written a second
// time: no reason to lose a resumption.
GeneratorWriter writer_behind(const RunDir& run) {
  try {
    Patience patience;
    return patiently(patience, [&] { return GeneratorWriter(run.generators()); });
  } catch (const std::exception& problem) {
    say("the states of random number generators are recorded anew: " + std::string(problem.what()));
    return {};
  }
}

}  // namespace

std::unique_ptr<Recording> Recording::begin(const Settings& settings, Frontend& frontend,
                                            const std::optional<EarlierAttempt>& earlier) {
  try {
    return start(settings, frontend, earlier);
  } catch (const std::exception& problem) {
    // A user who asked for a resumption does not want training from the start.
    if (earlier && was_resumption_asked_for()) Resumption::impossible(problem.what());
    throw;
  }
}

std::unique_ptr<Recording> Recording::start(const Settings& settings, Frontend& frontend,
                                            const std::optional<EarlierAttempt>& earlier) {
  const double start = monotonic_seconds();
  auto begun = begin_run(settings, frontend, earlier);
  if (!begun) return nullptr;
  AgentClient::Options options;
  std::shared_ptr<OwnSpooler> own;
  if (begun->local) {
    own = std::make_shared<OwnSpooler>(*begun->local);
    options.on_refusal = [own](const std::string& why) { own->start(why); };
  }
  auto agent = std::make_unique<AgentClient>(hello(*begun), std::move(options));
  if (begun->local) agent->spool_soon();
  auto out = std::make_unique<Recording>(std::move(*begun));
  out->agent_ = std::move(agent);
  out->own_spooler_ = std::move(own);
  const Manifest& manifest = out->manifest();
  say((earlier ? "resuming the recording of run " : "recording run ") + out->run().id() +
      (manifest.name.empty() ? "" : " (" + manifest.name + ")") + " in " +
      out->run().path.parent_path().string() + "; to watch it: flor log " + called(manifest) + " --follow");
  if (!earlier) warn_of_unheld(out->begun_);
  out->checkpointer_->charge(monotonic_seconds() - start, false);
  return out;
}

Recording::Recording(BegunRun begun)
    : begun_(std::move(begun)), remarks_(begun_.manifest.warnings), generator_room_(begun_.run.path) {
  auto on_failure = [this](Journal::Failure failure, const std::string& what) {
    if (failure == Journal::Failure::full) generator_room_.refused();
    if (failure == Journal::Failure::lasting) {
      damaged(what);
    } else {
      delayed(what);
    }
  };
  if (manifest().attempt > 0) {
    take_over(run(), manifest().attempt);
    generators_ = writer_behind(run());
  }
  const std::vector<fs::path> files{run().log(), run().timeline(), run().generators()};
  journal_ = std::make_unique<Journal>(files, on_failure, [this] { return beat(); });
  journal_->watch(generators_file, [this](std::string_view lines) { generator_room_.wrote(lines.size()); });
  watch_for_tensorboard();
  checkpointer_ = std::make_unique<Checkpointer>(
      run(), begun_.manifest, *journal_, [this](const std::string& what) { missed(what); }, hung_seconds());
}

void Recording::watch_for_tensorboard() {
  std::shared_ptr<LiveEvents> events = LiveEvents::begin(run().events(), run().log());
  if (!events) return;
  journal_->watch(log_file, [this, events](std::string_view lines) {
    if (!lost_) events->take(lines);
  });
}

void Recording::log_event(Json event) {
  event["@attempt"] = manifest().attempt;
  append(log_file, event.dump());
}

void Recording::pass_over(const std::vector<std::string>& files) {
  if (files.empty()) return;
  append(timeline_file, Json({{"kind", "doubt"}, {"files", files}}).dump());
  checkpointer().doubt(files);
}

void Recording::note_unheld(const std::string& block, const std::string& path, bool matters) {
  append(timeline_file,
         Json({{"kind", "unheld"}, {"block", block}, {"path", path}, {"matters", matters}}).dump());
}

// An exception here would have the program train from its start, with the weights that were restored.
void Recording::keep_newest_of(const Resumption& resumption) {
  if (manifest().keep <= 0) return;
  try {
    checkpointer().adopt(resumption.stored(manifest().attempt));
  } catch (const std::exception& problem) {
    remark("checkpoints of earlier attempts are all kept: " + std::string(problem.what()));
  }
}

void Recording::note_generators(const std::string& at, const char* edge, const GeneratorStates& states,
                                bool is_needed) {
  const int64_t taken = checkpointer_->taken();
  if (std::exchange(taken_, taken) != taken) is_needed = true;
  for (auto& line : generators_.lines(at, edge, states, is_needed, generator_room_.is_short()))
    append(generators_file, std::move(line));
}

bool Recording::is_ours() {
  if (over_ || begun_.owner.beat()) return true;
  if (!lost_.exchange(true))
    warn("training goes on, and is no longer recorded: run " + run().id() +
         " was given up for dead, and a further attempt goes on with it");
  return false;
}

// Called by the journal, whose thread may wait for the store. Training must not.
bool Recording::beat() {
  if (!is_ours()) return false;
  if (wants_space_.exchange(false)) release_space(run());
  generator_room_.look_again();
  return true;
}

void Recording::damaged(const std::string& what) {
  if (lost_) return;
  const std::lock_guard<std::mutex> lock(damage_mutex_);
  if (damages_.empty()) {
    warn("the recording of run " + run().id() + " is damaged, training goes on: " + what);
    wants_space_ = true;
  }
  if (damages_.size() < most_reports) damages_.push_back(what);
}

void Recording::missed(const std::string& what) {
  if (lost_) return;
  const std::lock_guard<std::mutex> lock(damage_mutex_);
  if (missed_ == 0) {
    warn("a checkpoint of run " + run().id() + " is missing, training goes on: " + what);
    wants_space_ = true;
  }
  if (++missed_ <= most_reports) remarks_.push_back(what);
}

void Recording::delayed(const std::string& what) {
  if (lost_) return;
  const std::lock_guard<std::mutex> lock(damage_mutex_);
  if (delayed_ == 0) {
    warn("rows of run " + run().id() +
         " are not written yet, which is tried again, training goes on: " + what);
    wants_space_ = true;
  }
  if (++delayed_ <= most_reports) remarks_.push_back("a write of rows failed and was tried again: " + what);
}

void Recording::remark(const std::string& line) {
  warn(line);
  const std::lock_guard<std::mutex> lock(damage_mutex_);
  remarks_.push_back(line);
}

// Saves the manifest with what is known about the end.
void Recording::write_end() {
  Manifest& manifest = begun_.manifest;
  {
    const std::lock_guard<std::mutex> lock(damage_mutex_);
    if (!damages_.empty()) manifest.status = "damaged";
    // What is missing comes first.
    manifest.warnings = damages_;
    manifest.warnings.insert(manifest.warnings.end(), remarks_.begin(), remarks_.end());
  }
  write_copy(manifest, ++copies_, write_last_manifest);
}

void Recording::write_copy(const Manifest& copy, int64_t number,
                           void (*write)(const RunDir&, const Manifest&)) {
  const std::lock_guard<std::mutex> lock(manifest_mutex_);
  // One that hung must not come after a newer one.
  if (number < newest_copy_ || !is_ours()) return;
  newest_copy_ = number;
  write(run(), copy);
}

// Gives the store a limited time, since training waits. While an earlier copy still hangs, tries nothing.
bool Recording::save_manifest_in_time() {
  if (is_saving_.exchange(true)) return false;
  return ends_within(std::min(end_margin, hung_seconds()), [this, copy = manifest(), number = ++copies_] {
    struct End {
      ~End() { saving = false; }
      std::atomic<bool>& saving;
    } end{is_saving_};
    write_copy(copy, number);
  });
}

void Recording::save_manifest_at_loop() {
  const Manifest& now = begun_.manifest;
  std::pair present(now.environment, now.args);
  if (saved_ == present) return;
  std::string why = "the store does not answer";
  try {
    if (save_manifest_in_time()) {
      saved_ = std::move(present);
      is_unsaved_ = false;
      return;
    }
  } catch (const std::exception& problem) {
    why = problem.what();
  }
  // One that is slow, and not gone, would make each iteration wait.
  if (is_saving_) not_before_ = monotonic_seconds() + pause_seconds;
  if (!std::exchange(is_unsaved_, true)) warn("run.json is written later, training goes on: " + why);
}

void Recording::iteration_ended() {
  if (is_unsaved_ && !checkpointer_->pauses() && monotonic_seconds() >= not_before_) save_manifest_at_loop();
  if (begun_.local) agent_->spool_soon();
}

std::string Recording::settle() {
  checkpointer_->drain();
  std::string why = checkpointer_->why_newest_missing();
  // What is not durable lies behind the newest checkpoint, and a resumption executes it again.
  if (!sync()) delayed(why = "the log could not be synced");
  if (lost_) return "a further attempt has the run";
  if (begun_.local) {
    const std::string trouble = empty_local_tier(RecordingEnd::interrupted);
    if (why.empty()) why = trouble;
  }
  return why;
}

// The time is limited, because a hanging write cannot be interrupted, and a program at its end must not wait
// for ever.
void Recording::finish(int exit_code) {
  const double limit = checkpointer_->longest_drain() + std::min(end_margin, hung_seconds());
  if (!ends_within(limit, [this, exit_code] { write_all(exit_code); })) {
    warn("the store does not answer, and the program ends without it: run " + run().id() +
         " is shown as killed, and what was not written by now is missing");
    return;
  }
  if (lost_) return;
  try {
    if (begun_.local && !empty_local_tier(RecordingEnd::usual).empty()) write_end();
  } catch (const std::exception& problem) {
    tell_of_unwritten_end(problem.what());
  }
  over_ = true;
  begun_.owner.end();
  say("recorded run " + run().id() + ": " + summary());
}

std::string Recording::summary() const {
  const Manifest& manifest = begun_.manifest;
  const int64_t durable = checkpointer_->durable();
  std::string out;
  if (const RecordedLoop* loop = manifest.main_loop())
    out = counted(static_cast<std::uint64_t>(loop->iterations), "iteration") + " of " + loop->name + ", ";
  out += percent_text(checkpointer_->overhead()) + " overhead, " +
         counted(static_cast<std::uint64_t>(durable), "checkpoint") + ", " +
         bytes_text(checkpointer_->bytes_written());
  if (!manifest.command.empty())
    out += "; to ask about it: flor replay " + called(manifest) + " -- " + shell_line(manifest.command);
  return out;
}

// Writes all checkpoints and rows, and that the program has ended.
void Recording::write_all(int exit_code) {
  checkpointer_->drain();
  // The kernel reports once what a full quota refused a while ago, and the second try writes it again.
  if (!sync() && !sync()) damaged("the log could not be synced");
  if (lost_) return;
  Manifest& manifest = begun_.manifest;
  manifest.exit_code = exit_code;
  manifest.finished = wall_seconds();
  manifest.status = exit_code == 0 ? "completed" : "failed";
  manifest.overhead = checkpointer_->overhead();
  try {
    write_end();
  } catch (const std::exception& problem) {
    tell_of_unwritten_end(problem.what());
  }
}

void Recording::tell_of_unwritten_end(const std::string& why) {
  warn("the end of the recording could not be written, it is shown as killed, and rows may be missing: " +
       why);
}

// Brings the rest of the local tier to the store now. The node's agent does not: an agent that was started on
// demand may be killed with the job.
std::string Recording::empty_local_tier(RecordingEnd end) {
  if (own_spooler_) own_spooler_->stop();
  std::string trouble = spool_rest(*begun_.local, *agent_, end);
  if (!trouble.empty()) missed(trouble);
  return trouble;
}

void Recording::give_up(const std::string& why) noexcept {
  try {
    damaged(why);
    if (!ends_within(std::min(end_margin, hung_seconds()), [this] { write_end(); }))
      warn("the store does not answer: run " + run().id() + " is shown as killed");
  } catch (...) {
    // The disk refuses even this. The warning on stderr has been printed.
  }
}

}  // namespace flor::core
