#include "core/replaying/replayer.h"

#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/messages.h"
#include "core/checkpoint/kinds.h"
#include "core/log/log_files.h"
#include "core/log/row.h"
#include "core/process/process.h"
#include "core/replaying/planned_program.h"
#include "core/session/mismatch.h"
#include "core/session/termination.h"

namespace flor::core {

RecordReader::Listener Replayer::listener() {
  return {[this](const std::string& at, double seconds) { worker_->restored(at, seconds); },
          [this](const std::string& line) { worker_->note(line); },
          [this](const std::string& why) { worker_->fail(why); },
          [this](const std::string& why) { worker_->drop_out(why); }};
}

void Replayer::enter_loop(const LoopSpec& loop) {
  const std::string parent = scope_.path();
  const std::string name = scope_.enter_loop(clean_name(loop.name, true));
  loops_.push_back({parent, name, 0});
  if (!working()) return;
  if (brief_ && loops_.size() == brief_->loops + 1) brief_->steps = 0;
  if (iterating_ && loops_.size() == 2 && steps_->enter(parent, loop, name) && !unit_ && target_ &&
      begins_here(*target_)) {
    steps_->restore(target_->from);
  }
  if (!outermost() || phase_ != Phase::before) return;
  if (name == main().name) {
    enter_main(loop);
  } else if (const RecordedLoop* earlier = record().loop(name)) {
    enter_earlier(*earlier);
  }
}

void Replayer::enter_main(const LoopSpec& loop) {
  // The units of the plan are ranges of this loop. In another loop they would mean something else.
  if (const auto why = mismatch(main(), loop)) worker_->fail(*why);
  if (plan().complete && guards_.empty()) {
    worker_->fail("the recorded program had flor::checkpointing in front of loop " + main().name +
                  ", this one has not; put it back");
  }
  // Not earlier: the recording took the environment here, too, with thread counts and flags set.
  worker_->introduce(frontend_, record().manifest());
  cursor_->enter(loop);
  phase_ = Phase::lead_in;
}

// Restores a loop before the main one from the state at its end, instead of executing it. That needs a guard,
// and a loop that ran to its end: after a break, the code after the loop may depend on where it stopped.
void Replayer::enter_earlier(const RecordedLoop& loop) {
  earlier_loop_ = true;
  const std::string at = loop.name + "=" + std::to_string(loop.last) + "/" + iteration_kind;
  const bool may_skip = plan().complete && !guards_.empty() && loop.ended == LoopEnd::exhausted;
  skip_loop_ = may_skip && recorded_->restore(at, guards_);
}

std::optional<int64_t> Replayer::next(std::optional<int64_t> natural) {
  if (!working()) return natural;
  if (cuts_short()) return std::nullopt;
  if (natural && loops_.size() > 1 && passes_recorded_exit(*natural)) end_unit_here();
  if (in_inner()) return next_of_inner(natural);
  if (!outermost()) return natural;
  if (phase_ == Phase::before) return skip_loop_ ? std::nullopt : natural;
  return in_main() ? next_of_main(natural) : natural;
}

void Replayer::begin(int64_t value) {
  scope_.set_value(value);
  loops_.back().value = value;
  if (!working()) return;
  if (in_inner()) steps_->begin(value);
  if (!outermost()) return;
  // Every iteration draws the random numbers that it drew when it was recorded, however the replay got here.
  pin_generators(scope_.path(), "entry");
  if (!in_main() || phase_ == Phase::after) return;
  iterating_ = true;
  steps_->begin_iteration();
  unit_log_.begin_iteration();
}

std::optional<int64_t> Replayer::next_of_inner(std::optional<int64_t> natural) {
  if (phase_ == Phase::after) return natural;
  const int64_t step = steps_->next();
  if (!unit_) return enter_between_steps(natural);
  if (unit_->last != cursor_->position() || unit_->to < 0 || step < unit_->to) return natural;
  // The state at the end of a unit is what its successor starts from. Comparing it here is the only evidence
  // that the units fit together.
  compare(steps_->place(), steps_->guards());
  commit();
  return enter_between_steps(natural);
}

// Called while no unit runs. The next unit begins at this step, at a later step, or elsewhere.
std::optional<int64_t> Replayer::enter_between_steps(std::optional<int64_t> natural) {
  if (!target_) {
    target_ = worker_->next_unit(cursor_->first_within_reach(steps_->next()));
    if (!begins_here(*target_) || !steps_->reach(target_->from, cursor_->exact())) {
      leave_steps();
      return std::nullopt;  // the code after the loop leads to the next iteration
    }
  }
  // A lead-in of whole iterations.
  if (!begins_here(*target_)) return natural;
  if (steps_->jump(target_->from)) cursor_->set_exact(true);
  // Where the checkpoint of the step cannot be read, the steps before it lead in.
  const int64_t step = steps_->next();
  if (step < target_->from) return natural;
  start(*target_);
  steps_->pin();
  return natural ? std::optional(step) : std::nullopt;
}

bool Replayer::is_last(const Unit& unit) const {
  if (unit.is_proof() && !unit.behind_loop) return false;
  const int64_t end = unit.is_proof() ? unit.proves->second : unit.id + 1;
  return end == static_cast<int64_t>(plan().units.size()) && covers_end(plan(), record().manifest());
}

// Did the recording leave the innermost loop before `value`, in the iteration in which it left the main loop?
bool Replayer::passes_recorded_exit(int64_t value) const {
  return unit_ && !brief_ && is_last(*unit_) && main().ended != LoopEnd::exhausted && in_main() &&
         loops_.front().value == main().last && record().was_left_before(loops_.back(), value);
}

// The recording left the main loop here. Nothing is recorded of what comes now, which may take days.
void Replayer::end_unit_here() {
  unit_log_.line(loop_end_event(main(), LoopEnd::running, main().last));
  commit();
  worker_->restart();
}

std::optional<int64_t> Replayer::next_of_main(std::optional<int64_t> natural) {
  const bool left = leaving_.has_value();
  end_main_iteration();
  // The loop was left from its last iteration: there is no further element, but the replay goes back.
  if (left) natural = cursor_->position();
  while (true) {
    if (unit_) {
      const bool is_last = this->is_last(*unit_);
      if (is_last && natural && cursor_->position() > unit_->last && main().ended != LoopEnd::exhausted)
        end_unit_here();
      // After the last unit the program goes on by itself, past the loop.
      if (is_last || cursor_->position() <= unit_->last)
        return natural ? std::optional(cursor_->position()) : std::nullopt;
      commit();
    }
    if (!target_) {
      target_ = worker_->next_unit(cursor_->first_within_reach());
      const int64_t here = cursor_->position();
      approach(*target_);
      // Also after the last iteration: a proof unit may end there, and other units begin before it.
      if (cursor_->position() < here) natural = cursor_->position();
    }
    if (cursor_->position() < target_->first || target_->from >= 0) return cursor_->position();
    start(*target_);
  }
}

// Sets state and position for the unit. Where this process cannot get there, a fresh one starts from the
// beginning.
void Replayer::approach(const Unit& unit) {
  phase_ = Phase::lead_in;
  const int64_t restored = cursor_->restored();
  if (!cursor_->approach(unit)) worker_->restart();
  if (cursor_->restored() != restored) shifted_.reset();
}

// Leaves the inner loop. The rest of this iteration then follows only some of its steps, so it may fail where
// the recorded program did not. Such a failure must not count as one of the program: the process restarts.
void Replayer::leave_steps() {
  // A program that names no state does not ask flor::replaying(). It may save what only some steps computed.
  if (steps_->guards().grows()) worker_->restart();
  leaving_.emplace([this](const std::string& why) {
    try {
      worker_->note("the program failed behind a loop that was left between two steps (" + why +
                    "); it starts anew");
    } catch (const std::exception&) {
      // Restart even where the disk is full and the note cannot be written.
    }
    worker_->restart();
  });
}

void Replayer::start(Unit unit) {
  unit_ = std::move(unit);
  target_.reset();
  phase_ = Phase::unit;
  watch_for_sigterm();
  unit_log_.open(*unit_);
  if (shifted_) unit_log_.generators_differ(shifted_->at, shifted_->difference);
}

void Replayer::commit() {
  const std::string text = unit_log_.close();
  if (surprise_) worker_->require_repetition(*unit_, text, *surprise_);
  surprise_.reset();
  worker_->commit(*unit_, text, unit_log_.seconds());
  unit_.reset();
  phase_ = Phase::lead_in;
}

void Replayer::end_main_iteration() {
  if (!iterating_) return;
  iterating_ = false;
  if (leaving_) {
    leaving_.reset();
    cursor_->end_iteration(loops_.front().value, false);
    approach(*target_);
    return;
  }
  const bool missed_begin = target_ && begins_here(*target_);
  const bool missed_end = unit_ && unit_->to >= 0 && unit_->last == cursor_->position();
  // The unit begins or ends between two steps that this iteration never reached: the program or its data
  // changed.
  if (missed_begin || missed_end) {
    worker_->fail(scope_.path() + " has no step " + std::to_string(missed_end ? unit_->to : target_->from) +
                  " of its loop " + plan().inner + ", which the record has");
  }
  cursor_->end_iteration(loops_.front().value, true);
  if (!guards_.empty()) compare(scope_.path() + "/" + iteration_kind, guards_);
}

void Replayer::leave_loop(LoopEnd how) {
  if (working() && outermost()) {
    if (phase_ == Phase::before) {
      earlier_loop_ = skip_loop_ = false;
    } else if (in_main() && phase_ != Phase::after) {
      end_of_main(how, loops_.front().value);
    }
    pin_generators(loops_.back().name + "=exit", "exit");
  }
  if (in_inner()) steps_->leave();
  loops_.pop_back();
  scope_.leave();
}

void Replayer::end_of_main(LoopEnd how, int64_t last) {
  // It ended from a state that was never recorded, so this end is compared with nothing.
  if (leaving_) worker_->restart();
  iterating_ = false;
  // The loop ended before the requested unit. The unit reports that, without rows.
  if (!unit_ && target_) start(*target_);
  if (!unit_) return;
  unit_log_.line(loop_end_event(main(), how, last));
  phase_ = Phase::after;
  ended_as_recorded_ = how == main().ended && last == main().last;
  if (how != LoopEnd::exhausted && !ended_as_recorded_) {
    surprise_ = "the program left " + main().name + " in iteration " + std::to_string(last) +
                (how == LoopEnd::unwound ? " by an exception" : "") + ", the recorded one did not";
  }
  if (is_last(*unit_)) return;
  commit();
  worker_->restart();
}

bool Replayer::must_execute(const std::string& block) const {
  // Rule 14: what left the loop early may be inside this block, and the loop would not end.
  if (record().leaves(loops_)) return true;
  const bool leads_in = (phase_ == Phase::lead_in && !(target_ && begins_here(*target_))) ||
                        (phase_ == Phase::before && earlier_loop_);
  if (leads_in) return plan().executes_in_lead_in(block);
  return (unit_ && unit_->is_proof()) || plan().executes(block);
}

// Returns whether a brief proof leaves the block that has just been entered after some steps.
bool Replayer::is_brief(const std::string& at) const {
  if (brief_ || !plan().brief || !unit_ || !unit_->is_proof() || record().leaves(loops_)) return false;
  const auto* entry = record().checkpoint(at);
  return !plan().executes(scope_.name()) && entry != nullptr && !entry->removed;
}

// Called where the next step of a loop begins. Two steps execute at least: the second shows what was passed
// on.
bool Replayer::cuts_short() {
  if (!brief_ || loops_.size() != brief_->loops + 1 || blocks_.size() != brief_->blocks) return false;
  return brief_->steps++ >= 2 && monotonic_seconds() >= brief_->until;
}

bool Replayer::enter_block(const std::string& name, State& state) {
  const std::string block = clean_name(name);
  scope_.enter_block(working() ? plan().recorded_name(block) : block);
  if (!working()) {
    blocks_.push_back({&state, true});
    return true;
  }
  const std::string at = scope_.path();
  // Rule 11: a block whose checkpoint is damaged or missing executes. That is slower, but right.
  const bool skipped = !must_execute(scope_.name()) && recorded_->restore(at, state);
  if (!skipped) pin_generators(at, "entry");
  const bool brief = !skipped && is_brief(at);
  line(block_event(at, !skipped && !brief));
  if (brief) brief_ = {blocks_.size() + 1, loops_.size(), monotonic_seconds() + *plan().brief, 0};
  blocks_.push_back({&state, !skipped});
  return !skipped;
}

void Replayer::leave_block(bool unwound) {
  if (blocks_.empty()) return;
  const OpenBlock block = blocks_.back();
  blocks_.pop_back();
  if (brief_ && blocks_.size() + 1 == brief_->blocks) {
    brief_.reset();
    // Only part of the block ran. Later code must see the recorded state, as after a skipped block.
    if (!unwound && !recorded_->restore(scope_.path(), *block.state))
      worker_->fail("the end of " + scope_.path() + " cannot be restored, so a brief proof cannot go on");
  } else if (working() && block.executed && !unwound && !leaving_) {
    compare(scope_.path(), *block.state);
    pin_generators(scope_.path(), "exit");
  }
  scope_.leave();
}

void Replayer::compare(const std::string& at, State& state) {
  const auto* entry = recorded_->comparable(at, state);
  if (entry == nullptr) return;
  const std::string live = state_digest(state.save());
  line(digest_event(at, entry->state, live));
  // Rule 13: after a mismatch the recorded state is restored. One difference does not spread to all later
  // rows.
  if (live != entry->state) cursor_->set_exact(recorded_->restore(at, state));
}

void Replayer::line(Line json) {
  // A skipped block has no rows.
  if (brief_) return;
  if (capturing()) {
    unit_log_.line(std::move(json));
  } else if (in_front()) {
    unit_log_.preamble(std::move(json));
  }
}

void Replayer::log(const Row& row) {
  if (!working()) return;
  if (leads_to_steps()) unit_log_.count(scope_.path(), row.name);
  line(row_line(row, scope_));
}

std::optional<RowFiles> Replayer::row_files() {
  if (!working() || !(capturing() || in_front() || leads_to_steps())) return std::nullopt;
  return files_;
}

void Replayer::finish(int exit_code) {
  if (!working()) return;
  if (phase_ == Phase::before) {
    // A helper that the program has started says nothing of the question.
    if (exit_code == 0 && has_other_arguments(worker_->plan(), record().manifest())) return;
    worker_->fail("the program ended (exit code " + std::to_string(exit_code) + ") before it reached loop " +
                  main().name);
  }
  // exit() inside the loop ended it. The loop_end event tells whether the recorded loop ended the same way.
  if (phase_ != Phase::after) end_of_main(LoopEnd::early, cursor_->position());
  // As on a node without the data set: the container cannot even be begun. Other nodes go on.
  if (!unit_) worker_->drop_out("the program left loop " + main().name + " before its first iteration");
  const int recorded = record().manifest().exit_code.value_or(0);
  if (exit_code != recorded) {
    const std::string why = "the program ended with exit code " + std::to_string(exit_code) +
                            ", the recorded one with " + std::to_string(recorded);
    if (ended_as_recorded_) {
      // Before the last commit: no other line of the unit would tell that the program failed.
      worker_->require_repetition(*unit_, unit_log_.close() + why, why);
      worker_->fail(why);
    }
    if (!surprise_) surprise_ = why;
  }
  commit();
  worker_->finish();
}

void Replayer::give_up(const std::string& why, Failed failed) noexcept {
  try {
    if (working()) failed == Failed::here ? worker_->drop_out(why) : worker_->fail(why);
    say("error: " + why);
  } catch (const std::exception& problem) {
    say("error: " + why + " (" + problem.what() + ")");
  }
  // To train on would answer nothing, and overwrite what the recorded run wrote.
  if (working()) leave_process(1);
}

std::unique_ptr<Session> make_replayer(const Settings& settings, Frontend& frontend, Scope& scope) {
  try {
    return std::make_unique<Replayer>(settings, frontend, scope);
  } catch (const std::exception& problem) {
    // Training from the start would answer no question, so the process ends.
    say("error: cannot replay: " + std::string(problem.what()));
    leave_process(1);
  }
}

}  // namespace flor::core
