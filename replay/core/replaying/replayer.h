// The session of a replay. It brings the program to the start of each unit, lets the unit run, and compares
// it with the record. It gets there by restoring (complete checkpoints) or by pseudoresume (the program runs
// from its start with its blocks skipped).
//
// Rules of docs/semantics.md that it implements: identity (7), skipping (11), recorded state at the start of
// every unit (12), repair after a mismatch (13), loop ends (14), code around the loop (15).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/restorer.h"
#include "core/log/log_files.h"
#include "core/log/row.h"
#include "core/process/terminate_handler.h"
#include "core/replaying/main_cursor.h"
#include "core/replaying/step_cursor.h"
#include "core/replaying/unit_log.h"
#include "core/replaying/worker.h"
#include "core/session/guards.h"
#include "core/session/session.h"
#include "core/store/generators.h"

namespace flor::core {

class Replayer : public Session {
 public:
  Replayer(const Settings& settings, Frontend& frontend, Scope& scope)
      : frontend_(frontend), scope_(scope), worker_(Worker::join(settings)) {
    if (!worker_) return;
    recorded_.emplace(worker_->run(), frontend_, listener());
    cursor_.emplace(*recorded_, worker_->plan(), guards_);
    steps_.emplace(*recorded_, worker_->plan().inner);
    files_ = std::make_shared<LogFiles>(worker_->run().path);
  }

  void enter_loop(const LoopSpec& loop) override;
  std::optional<int64_t> next(std::optional<int64_t> natural) override;
  void begin(int64_t value) override;
  void leave_loop(LoopEnd how) override;
  bool enter_block(const std::string& name, State& state) override;
  void leave_block(bool unwound) override;
  void enter_guard(State& state) override { (iterating_ ? steps_->guards() : guards_).enter(state); }
  void leave_guard(State& state) override {
    guards_.leave(state);
    if (steps_) steps_->guards().leave(state);
  }
  void log(const Row& row) override;
  std::optional<RowFiles> row_files() override;
  std::optional<std::string> argument(const std::string& name) override {
    return working() ? record().argument(name) : std::nullopt;
  }
  void reject(const std::string& why) override {
    if (working() && !failed_as_recorded()) worker_->fail(why);
  }
  void cannot_go_on(const std::string& why) override {
    if (working()) worker_->fail(why, true);
  }
  void used_argument(const std::string&, const std::string&) override {}
  void finish(int exit_code) override;
  bool records() const override { return false; }
  void give_up(const std::string& why, Failed failed) noexcept override;

 private:
  enum class Phase {
    // Before the main loop. Rows belong to unit 0.
    before,
    // Pseudoresumed iterations before a unit. Their rows are dropped.
    lead_in,
    unit,
    // After the main loop. Rows belong to the last unit.
    after
  };

  struct OpenBlock {
    State* state = nullptr;
    bool executed = true;
  };

  // Where the generators were seen to differ from the recorded ones.
  struct Shifted {
    std::string at;
    GeneratorLog::Difference difference;
  };

  // The running block of a brief proof (core/store/proof.h).
  struct BriefBlock {
    // Open ones, this block included.
    std::size_t blocks = 0, loops = 0;
    // Monotonic seconds.
    double until = 0;
    // Steps begun in its running loop.
    int64_t steps = 0;
  };

  RecordReader::Listener listener();
  bool working() const { return worker_ != nullptr; }
  bool outermost() const { return loops_.size() == 1 && blocks_.empty(); }
  bool in_main() const {
    return !loops_.empty() && loops_.front().name == main().name && phase_ != Phase::before;
  }
  bool capturing() const { return phase_ == Phase::unit || phase_ == Phase::after; }
  bool in_inner() const { return working() && steps_->inside() && loops_.size() == 2; }
  // Does the unit begin inside the running iteration?
  bool begins_here(const Unit& unit) const { return unit.from >= 0 && unit.first == cursor_->position(); }
  bool leads_to_steps() const { return iterating_ && steps_->in_front(); }
  // Has no outermost loop been entered yet?
  bool in_front() const { return phase_ == Phase::before && !earlier_loop_; }
  // Did the recorded program fail where this one does?
  bool failed_as_recorded() const {
    if (phase_ == Phase::after) return record().manifest().exit_code.value_or(0) != 0;
    return in_main() && main().ended == LoopEnd::unwound && loops_.front().value == main().last;
  }
  const RecordIndex& record() const { return recorded_->index(); }
  const RecordedLoop& main() const { return record().main_loop(); }
  const Plan& plan() const { return worker_->plan(); }

  void enter_main(const LoopSpec& loop);
  void enter_earlier(const RecordedLoop& loop);
  std::optional<int64_t> next_of_main(std::optional<int64_t> natural);
  void end_main_iteration();
  std::optional<int64_t> next_of_inner(std::optional<int64_t> natural);
  std::optional<int64_t> enter_between_steps(std::optional<int64_t> natural);
  void approach(const Unit& unit);
  void leave_steps();
  void start(Unit unit);
  void commit();
  void end_of_main(LoopEnd how, int64_t last);
  bool is_last(const Unit& unit) const;
  bool passes_recorded_exit(int64_t value) const;
  [[noreturn]] void end_unit_here();
  bool must_execute(const std::string& block) const;
  bool is_brief(const std::string& at) const;
  bool cuts_short();

  // Sets the generators as they were recorded. Some places have digests only: there a probe that drew shows
  // as a difference. All that the program does from there on may be shifted, in front of a unit, too.
  void pin_generators(const std::string& at, const char* edge) {
    if (recorded_->pin_generators(at, edge) || brief_) return;
    const auto other = recorded_->generator_difference(at, edge);
    if (!other) return;
    if (!shifted_) shifted_ = Shifted{at, *other};
    if (capturing()) unit_log_.generators_differ(at, *other);
  }
  // Compares live state with the state recorded at `at`. Restores the recorded state if they differ.
  void compare(const std::string& at, State& state);
  void line(Line json);

  Frontend& frontend_;
  Scope& scope_;
  // Null: another process of this task is the worker, and this one runs as if flor were not there.
  std::unique_ptr<Worker> worker_;
  std::optional<RecordReader> recorded_;
  // The files of the recorded run. A replay does not write again a file that it finds there.
  RowFiles files_;
  Guards guards_;
  std::vector<LoopPosition> loops_;
  std::vector<OpenBlock> blocks_;
  std::optional<BriefBlock> brief_;
  Phase phase_ = Phase::before;
  // Inside an outermost loop before the main one.
  bool earlier_loop_ = false;
  // The loop was restored: none of its iterations runs.
  bool skip_loop_ = false;
  bool iterating_ = false;
  std::optional<MainCursor> cursor_;
  std::optional<StepCursor> steps_;
  std::optional<TerminateHandler> leaving_;
  // Claimed, not reached yet.
  std::optional<Unit> target_;
  // Being executed.
  std::optional<Unit> unit_;
  UnitLog unit_log_;
  // The first place since the whole state was restored. Each further unit tells of it.
  std::optional<Shifted> shifted_;
  bool ended_as_recorded_ = false;
  // Why the end of the main loop in this unit must repeat before it counts.
  std::optional<std::string> surprise_;
};

}  // namespace flor::core
