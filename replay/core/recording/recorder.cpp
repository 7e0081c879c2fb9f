// The recording session. It times every execution of a block or iteration, and notes the generators there.
// The Checkpointer decides whether its effects are saved. The run begins at the first loop or block, so a
// program that never reaches one leaves no run. A resumed run first restores the state where the earlier
// attempt ended (Resumption).
#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/messages.h"
#include "core/checkpoint/kinds.h"
#include "core/config/arguments.h"
#include "core/log/log_files.h"
#include "core/log/row.h"
#include "core/recording/checkpointer.h"
#include "core/recording/last_checkpoint.h"
#include "core/recording/open_places.h"
#include "core/recording/outermost_loop.h"
#include "core/recording/recording.h"
#include "core/recording/step_recorder.h"
#include "core/resuming/earlier_run.h"
#include "core/resuming/entry_generators.h"
#include "core/resuming/resumption.h"
#include "core/resuming/taken_launch.h"
#include "core/session/guards.h"
#include "core/session/session.h"

namespace flor::core {
namespace {

class Recorder : public Session {
 public:
  Recorder(const Settings& settings, Frontend& frontend, Scope& scope)
      : settings_(settings),
        frontend_(frontend),
        scope_(scope),
        earlier_(settings),
        arguments_(earlier_.arguments()) {}

  void enter_loop(const LoopSpec& loop) override;
  std::optional<int64_t> next(std::optional<int64_t> natural) override;
  void begin(int64_t value) override;
  void leave_loop(LoopEnd how) override;
  bool enter_block(const std::string& name, State& state) override;
  void leave_block(bool unwound) override;
  void enter_guard(State& state) override { (iterating() ? steps_->guards() : guards_).enter(state); }
  void leave_guard(State& state) override {
    guards_.leave(state);
    if (steps_) steps_->guards().leave(state);
  }
  void note_unheld(const std::string& block, const std::string& path, bool matters) override {
    if (!recording_) return early_notes_.push_back([=] { note_unheld(block, path, matters); });
    recording_->note_unheld(block, path, matters);
  }
  void note_group() override {
    core::note_group();
    if (recording_) mark_several(recording_->run());
  }
  void spent(double seconds) override {
    if (recording_) recording_->checkpointer().charge(seconds, iterating());
  }
  // What was noted of it must be in the record: the next attempt begins in front of it.
  void cannot_go_on(const std::string& why) override {
    if (!resumption_) return;
    recording_->sync();
    Resumption::impossible(why + "; the next one begins in front of it");
  }
  void log(const Row& row) override;
  std::optional<RowFiles> row_files() override { return files_; }
  std::optional<std::string> argument(const std::string& name) override { return arguments_.value(name); }
  void used_argument(const std::string& name, const std::string& value) override;
  void finish(int exit_code) override;
  std::optional<Unkept> take_unkept() override;
  bool records() const override { return true; }
  void give_up(const std::string& why, Failed failed) noexcept override;

 private:
  void begin_recording();
  // A user who asked for the resumption does not want training from the start. Where nobody asked, and the
  // new attempt has begun, the program starts again, unrecorded. The record stays as it is.
  void leave_unless_resumed(const std::string& why) const {
    if (earlier_.run() && !resumed_ && (recording_ || was_resumption_asked_for()))
      Resumption::impossible(why);
  }
  bool outermost() const { return loops_.size() == 1 && blocks_.empty(); }
  bool iterating() const { return main_ && main_->iterating(); }
  bool stepping() const { return steps_ && steps_->inside() && loops_.size() == 2; }
  void enter_outermost(RecordedLoop info);
  bool skip(State& state);
  void resume_loop(const RecordedLoop& earlier);
  void leave_inner_blocks();
  void note_inner_end(LoopEnd how);
  // `restorable`: the state is that at the end of an iteration.
  void end_iteration(bool restorable);
  void checkpoint_iteration(const std::string& at, const std::string& stem, double seconds,
                            const char* forced);
  void leave_after_last_checkpoint();  // makes everything durable and ends the process
  void note_generators(const std::string& at, const char* edge, bool is_needed = false);

  const Settings settings_;
  Frontend& frontend_;
  Scope& scope_;
  EarlierRun earlier_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<Resumption> resumption_;
  std::unique_ptr<LastCheckpoint> last_;
  bool someone_else_records_ = false;
  bool keeps_rows_ = true;  // in the run, or in early_rows_ until it begins
  bool resumed_ = false;    // the first outermost loop was entered where the earlier attempt left it
  bool leaves_record_ = false;
  std::vector<Line> early_rows_;
  std::vector<std::function<void()>> early_notes_;  // for the timeline
  RowFiles files_ = std::make_shared<LogFiles>();
  Arguments arguments_;
  Guards guards_;
  std::optional<StepRecorder> steps_;
  bool enterable_ = false;  // the state before the next iteration has a checkpoint
  std::vector<OpenBlock> blocks_;
  std::vector<OpenLoop> loops_;
  std::optional<OutermostLoop> main_;  // set while an outermost loop runs
};

void Recorder::begin_recording() {
  // Rule 16: one process of a task records. The others run as if outside flor.
  if (recording_ || someone_else_records_) return;
  earlier_.require_possible(settings_);
  earlier_.drop_if_gone_or_in_group();
  const auto& run = earlier_.run();
  const auto earlier = run ? std::optional(EarlierAttempt{*run, earlier_.attempt() - 1}) : std::nullopt;
  recording_ = Recording::begin(settings_, frontend_, earlier);
  if (!recording_) {
    someone_else_records_ = true;
    keeps_rows_ = false;
    return;
  }
  last_ = std::make_unique<LastCheckpoint>(settings_, [this] { recording_->sync(); });
  if (const auto problem = files_->open(recording_->run().path)) recording_->damaged(*problem);
  if (earlier && recording_->manifest().main_loop() != nullptr) {
    resumption_ = Resumption::of(recording_->run(), frontend_);
  }
  steps_.emplace(*recording_, resumption_.get(), *last_, frontend_, scope_);
  if (earlier) recording_->log_event({{"@event", "resumed"}});
  for (const auto& row : std::exchange(early_rows_, {})) recording_->append(log_file, row);
  for (const auto& note : std::exchange(early_notes_, {})) note();
  for (const auto& [name, value] : arguments_.used()) recording_->manifest().args[name] = value;
}

void Recorder::note_generators(const std::string& at, const char* edge, bool is_needed) {
  recording_->checkpointer().charge(
      [&] { recording_->note_generators(at, edge, frontend_.generators(), is_needed); });
}

void Recorder::enter_loop(const LoopSpec& loop) {
  const std::string parent = scope_.path();
  const std::string name = scope_.enter_loop(clean_name(loop.name, true));
  loops_.push_back({{parent, name, 0}, false, blocks_.size()});
  // After the scope is entered: if this fails, rows are still printed with their loop.
  if (!recording_) earlier_.drop_if_gone_or_in_group();
  if (outermost() && !recording_) earlier_.drop_if_loop_is_another(name, loop, frontend_);
  begin_recording();
  if (someone_else_records_) return;
  if (iterating() && loops_.size() == 2) steps_->enter(parent, name);
  if (!outermost()) return;
  RecordedLoop info = recorded_loop(name, loop, !guards_.empty());
  const RecordedLoop* earlier = resumption_ ? resumption_->loop(name) : nullptr;
  if (earlier != nullptr) {
    if (is_in_group()) Resumption::impossible(trains_with_others);  // its attempt did not note the group
    if (const auto why = resumption_->why_another(*earlier, loop)) {
      if (!resumed_ || was_resumption_asked_for()) Resumption::impossible(*why);
      // What was restored so far is right, so training goes on. Only the recording ends.
      leaves_record_ = true;
      throw Error(*why);
    }
    info.inner = earlier->inner;
  }
  enter_outermost(std::move(info));
  if (earlier != nullptr) resume_loop(*earlier);
  if (!resumed_ && resumption_) recording_->keep_newest_of(*resumption_);
  resumed_ = true;
}

void Recorder::enter_outermost(RecordedLoop info) {
  main_.emplace(std::move(info), *recording_, frontend_, resumption_.get());
  const std::string entry = entry_of(main_->info().name);
  note_generators(entry, "entry", main_->info().guarded || !resumed_);
  if (!main_->info().guarded) return;
  const std::string at = entry + "/" + iteration_kind;
  enterable_ = resumption_ && resumption_->has_checkpoint(at);
  // A replay enters unit 0 from it. Where the store is out, each of thousands of loops would wait for it.
  if (!enterable_ && !recording_->checkpointer().pauses())
    checkpoint_iteration(at, entry, 0, "the loop's entry is always kept");
  // Before the first iteration, so that the page faults of the copy do not count as training.
  recording_->checkpointer().prefault_for(iteration_kind, guards_);
}

void Recorder::resume_loop(const RecordedLoop& earlier) {
  const Resumption::Entry entry = resumption_->enter(earlier, guards_);
  main_->resume(entry);
  recording_->pass_over(resumption_->take_passed_over());
  enterable_ = enterable_ || entry.before > 0;
  if (entry.before > 0)
    recording_->log_event({{"@event", "kept"}, {"loop", earlier.name}, {"before", entry.next}});
  say(entry.before == 0 ? "nothing of loop " + earlier.name +
                              " can be restored as a whole: it runs from its start, where blocks with a "
                              "checkpoint are skipped"
                        : "resumed behind " + earlier.name + "=" + std::to_string(entry.next - 1));
}

std::optional<int64_t> Recorder::next(std::optional<int64_t> natural) {
  if (someone_else_records_) return natural;
  leave_inner_blocks();
  if (stepping()) return steps_->next(natural);
  if (!outermost()) return natural;
  end_iteration(true);
  const auto entry = main_ ? main_->take_entry() : std::nullopt;
  if (!entry) return natural;
  if (entry->over) resumption_->end(main_->info().name);
  if (entry->over || !natural) return std::nullopt;
  return entry->next;
}

void Recorder::begin(int64_t value) {
  scope_.set_value(value);
  loops_.back().place.value = value;
  if (someone_else_records_) return;
  if (stepping()) steps_->begin();
  if (!outermost()) return;
  note_generators(scope_.path(), "entry", main_->info().guarded && enterable_);
  main_->begin(value);
  steps_->begin_iteration(*main_, enterable_);
  if (const auto seconds = main_->usual_seconds()) last_->expects(*seconds);
}

void Recorder::end_iteration(bool restorable) {
  if (!iterating()) return;
  const std::string at = scope_.path();
  // Queued device work belongs to this iteration, and must not be counted in the next one.
  if (!guards_.empty()) frontend_.synchronize();
  const double seconds = main_->end(at);
  if (restorable && main_->info().guarded && !guards_.empty()) {
    const char* last = last_->why_asked();
    checkpoint_iteration(at + "/" + iteration_kind, checkpoint_stem(at, 0), seconds, last);
    if (last != nullptr) leave_after_last_checkpoint();
  }
  recording_->iteration_ended();
}

void Recorder::checkpoint_iteration(const std::string& at, const std::string& stem, double seconds,
                                    const char* forced) {
  const CheckpointKey key{iteration_kind, at,
                          RunDir::checkpoint_file(iteration_kind, stem, earlier_.attempt()).string(),
                          main_->in_last_iteration()};
  enterable_ = recording_->checkpointer().on_execution_end(key, seconds, main_->timer().start(), forced,
                                                           [&] { return live_buffers(guards_, frontend_); });
}

void Recorder::leave_after_last_checkpoint() {
  last_->end(recording_->settle());
}

// A front end may have left one without telling it, as where a signal handler raised an exception.
void Recorder::leave_inner_blocks() {
  while (!loops_.empty() && blocks_.size() > loops_.back().blocks) leave_block(true);
}

void Recorder::leave_loop(LoopEnd how) {
  leave_inner_blocks();
  if (!someone_else_records_ && outermost() && main_) {
    end_iteration(how == LoopEnd::exhausted);
    note_generators(main_->info().name + "=exit", "exit", main_->info().guarded);
    main_->leave(how);
    main_.reset();
    last_->none_follows(how != LoopEnd::exhausted);
  } else if (!someone_else_records_) {
    note_inner_end(how);
  }
  if (stepping()) steps_->leave();
  loops_.pop_back();
  scope_.leave();
}

// The statement that left the loop may be in a block of this iteration, and a replay may go on past it.
void Recorder::note_inner_end(LoopEnd how) {
  // Where an earlier attempt may have said otherwise, also that it ran to its end.
  if ((how != LoopEnd::exhausted || earlier_.attempt() > 0) && (loops_.back().has_block || stepping()))
    recording_->append(timeline_file, loop_end_row(loops_.back().place, how).dump());
}

bool Recorder::enter_block(const std::string& name, State& state) {
  begin_recording();
  for (auto& loop : loops_) loop.has_block = true;
  scope_.enter_block(clean_name(name));
  OpenBlock block{scope_.name(), &state, {}, false};
  if (!someone_else_records_) {
    block.skipped = skip(state);
    if (!block.skipped) {
      note_generators(scope_.path(), "entry");
      recording_->checkpointer().prefault_for(block.name, state);
      block.timer = {recording_->checkpointer(), resumption_.get()};
    }
  }
  const bool executes = !block.skipped;
  blocks_.push_back(std::move(block));
  return executes;
}

// Returns whether a checkpoint of an earlier attempt was restored instead of executing the block.
bool Recorder::skip(State& state) {
  if (!resumption_) return false;
  std::vector<LoopPosition> places;
  for (const auto& loop : loops_) places.push_back(loop.place);
  const bool skips = resumption_->skip(scope_.path(), state, places);
  recording_->pass_over(resumption_->take_passed_over());
  if (skips) recording_->log_event({{"@event", "kept"}, {"at", scope_.path()}});
  return skips;
}

void Recorder::leave_block(bool unwound) {
  if (blocks_.empty()) return;  // left already, with its loop
  const OpenBlock block = blocks_.back();
  blocks_.pop_back();
  if (!someone_else_records_ && !unwound && !block.skipped) {
    // The block has ended only when the device has done its work.
    frontend_.synchronize();
    const double seconds = block.timer.elapsed();
    note_generators(scope_.path(), "exit");
    const std::string stem = checkpoint_stem(scope_.parent(), scope_.ordinal());
    const char* last = guards_.empty() && blocks_.empty() ? last_->why_asked() : nullptr;
    // The last chance to find tensors that changed silently (Materializer::recheck_trusted).
    const bool final = main_ && main_->in_last_iteration() && loops_.size() == 1 && blocks_.empty();
    recording_->checkpointer().on_execution_end(
        {block.name, scope_.path(), RunDir::checkpoint_file(block.name, stem, earlier_.attempt()).string(),
         final},
        seconds, block.timer.start(), last, [&] { return live_buffers(*block.state, frontend_); });
    if (last != nullptr) leave_after_last_checkpoint();
  }
  scope_.leave();
}

void Recorder::log(const Row& row) {
  if (someone_else_records_) return;
  Line line = row_line(row, scope_, earlier_.attempt());
  if (recording_) return recording_->append(log_file, std::move(line));
  early_rows_.push_back(std::move(line));
}

void Recorder::used_argument(const std::string& name, const std::string& value) {
  arguments_.use(name, value);
  if (recording_) recording_->manifest().args[name] = value;
}

void Recorder::finish(int exit_code) {
  if (someone_else_records_) return;
  if (!recording_) {
    keeps_rows_ = false;
    // `flor record` reports this itself, also for programs that never call the library.
    if (environment_variable("FLOR_LAUNCH").value_or("").rfind("local-", 0) != 0) {
      warn("nothing was recorded: the program never reached a flor::loop");
    }
    return;
  }
  last_->over(exit_code != 0, [this] { recording_->settle(); });
  // exit() inside a loop counts as leaving it early, as by break.
  if (!loops_.empty()) {
    blocks_.clear();
    while (scope_.depth() > 1) scope_.leave();
    for (; loops_.size() > 1; loops_.pop_back()) note_inner_end(LoopEnd::early);
    leave_loop(LoopEnd::early);
  }
  if (earlier_.run()) recording_->log_event({{"@event", "ended"}});
  if (exit_code == 0) {
    for (const auto& name : arguments_.unasked())
      warn("the program never asked for the argument " + name + " that was given (flor::arg)");
  }
  recording_->finish(exit_code);
}

std::optional<Session::Unkept> Recorder::take_unkept() {
  if (keeps_rows_) return std::nullopt;
  return Unkept{std::exchange(early_rows_, {}), recording_ ? nullptr : std::exchange(files_, nullptr)};
}

void Recorder::give_up(const std::string& why, Failed /*failed*/) noexcept {
  keeps_rows_ = false;
  leave_unless_resumed(why);
  if (recording_ && !leaves_record_) {
    recording_->give_up(why);
  } else {
    warn("cannot record, training goes on without: " + why);
  }
}

}  // namespace

std::unique_ptr<Session> make_recorder(const Settings& settings, Frontend& frontend, Scope& scope) {
  return std::make_unique<Recorder>(settings, frontend, scope);
}

}  // namespace flor::core
