#include "core/recording/step_recorder.h"

#include <algorithm>

#include "core/base/clock.h"
#include "core/base/messages.h"
#include "core/checkpoint/kinds.h"
#include "core/policy/spacing.h"

namespace flor::core {
namespace {

// Seconds. Steps may be much shorter, and the interval is asked for at each of them.
constexpr double seldom = 0.01;

}  // namespace

void StepRecorder::begin_iteration(OutermostLoop& main, bool enterable) {
  main_ = &main;
  enterable_ = enterable;
  timer_ = main.timer();
  loop_.begin_iteration();
}

void StepRecorder::enter(const std::string& parent, const std::string& name) {
  if (!main_->info().guarded || !loop_.enter(path_in_iteration(parent, name))) return;
  path_ = parent + "/" + name;
  if (resumption_ != nullptr) resume();
}

// Called before a data loader's begin(), since its sampler may be one of the objects.
void StepRecorder::resume() {
  const auto step = resumption_->enter_steps(path_, loop_.guards());
  recording_.pass_over(resumption_->take_passed_over());
  if (!step) return;
  resumed_ = step->next;
  resumption_->save(step->into - main_->timer().elapsed());
  timer_ = {recording_.checkpointer(), resumption_};
  recording_.log_event({{"@event", "kept"}, {"at", path_}, {"before", step->next}});
  say("resumed in front of " + path_of(step->next));
}

std::optional<int64_t> StepRecorder::next(std::optional<int64_t> natural) {
  if (natural && loop_.stepping()) end_step(*natural);
  return natural && resumed_ ? resumed_ : natural;
}

void StepRecorder::begin() {
  loop_.begin_step();
  if (resumed_) resumption_->begin(scope_.path());
  resumed_.reset();
  const double now = monotonic_seconds();
  if (enterable_ && began_ > 0) last_.expects(now - began_);
  began_ = now;
}

void StepRecorder::end_step(int64_t next) {
  // In a plan, -1 means that a unit does not begin at a step.
  if (!enterable_ || next < 1) return;
  const char* last = last_.why_asked();
  if (last == nullptr && !is_due()) return;
  if (!loop_.guards().ready(last != nullptr)) {
    // To ask at each step could cost much.
    if (last == nullptr) timer_ = {recording_.checkpointer(), resumption_};
    return;
  }
  frontend_.synchronize();
  const double seconds = timer_.elapsed();
  const std::string at = scope_.path();
  if (!main_->end_step(at, loop_.path(), next, loop_.guards().grows())) return;
  recording_.note_generators(path_of(next), "entry", frontend_.generators(), true);
  const CheckpointKey key{
      step_kind, at + "/" + step_kind,
      RunDir::checkpoint_file(step_kind, checkpoint_stem(at, 0), recording_.manifest().attempt).string()};
  recording_.checkpointer().on_execution_end(key, seconds, timer_.start(), last,
                                             [&] { return live_buffers(loop_.guards(), frontend_); });
  if (last != nullptr) last_.end(recording_.settle());
  timer_ = {recording_.checkpointer(), resumption_};
}

bool StepRecorder::is_due() {
  const double now = monotonic_seconds();
  if (now < ask_at_) return false;
  const double left = step_interval(recording_.manifest().step_seconds,
                                    recording_.checkpointer().recovery_interval(step_kind),
                                    main_->usual_seconds(), main_->timer().elapsed()) -
                      timer_.elapsed();
  if (left <= 0) return true;
  ask_at_ = now + std::min(left, seldom);
  return false;
}

void StepRecorder::leave() {
  loop_.leave();
  resumed_.reset();
  began_ = 0;
}

}  // namespace flor::core
