// Restores a resumed recording to where the earlier attempt ended: to the newest iteration with a readable
// checkpoint. Without flor::checkpointing the program runs from the start with its blocks skipped
// (pseudoresume). Work after that point is executed and recorded again. Training thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/checkpoint/restorer.h"
#include "core/policy/retention.h"
#include "core/resuming/doubted.h"
#include "core/resuming/patience.h"
#include "core/session/session.h"
#include "core/store/timeline_row.h"

namespace flor::core {

class Resumption {
 public:
  // Reads the record so far, so create it before adding to the record. Throws Error if there is no loop to
  // resume. Reports unusable checkpoints to `damaged`.
  // Waits with this patience where the system refuses to read a checkpoint.
  Resumption(const RunDir& run, Frontend& frontend, std::function<void(const std::string&)> damaged,
             Patience patience = Patience());

  // Reads the record of a run. Waits while a file server fails, and warns of damage.
  static std::unique_ptr<Resumption> of(const RunDir& run, Frontend& frontend);

  const Manifest& manifest() const { return recorded_.index().manifest(); }
  const RecordedLoop* loop(const std::string& name) const { return recorded_.index().loop(name); }
  bool has_checkpoint(const std::string& at) const;

  // Reports why and ends the process: the user asked for a resumption. If no user asked
  // (was_resumption_asked_for()), restarts the program unrecorded instead, because a requeued job should
  // train on in any case.
  [[noreturn]] static void impossible(const std::string& why);

  // Returns the checkpoints of earlier attempts that are still there with all that they refer to, oldest
  // first; none of `passed_over`. `attempt`: the present one.
  std::vector<StoredCheckpoint> stored(int64_t attempt) const;

  // Where an outermost loop continues.
  struct Entry {
    // Value of its first iteration.
    int64_t next = 0;
    // Iterations before that one.
    int64_t before = 0;
    // Seconds that these took.
    double seconds = 0;
    // The loop had ended when it was recorded, and all of it is restored.
    bool over = false;
  };
  // Takes the files of checkpoints that could not be restored here and whose work is executed again. None of
  // them may ever be restored: what is executed from there on is another history, and one of these may become
  // readable again. Each call returns what is new.
  std::vector<std::string> take_passed_over();
  // Restores the newest iteration of the loop with a readable checkpoint. Without one the loop starts at its
  // first iteration, and `guards` keep their state; but where one could not be read at all, it reports that
  // as impossible() and does not return.
  Entry enter(const RecordedLoop& loop, State& guards);

  // Call at a loop's entry. Returns why it is not the recorded one: it runs over other values, or other
  // random numbers were drawn in front of it. Where it is, returns std::nullopt and sets the generators as
  // recorded at the loop's entry: nothing was drawn from those that differ.
  std::optional<std::string> why_another(const RecordedLoop& recorded, const LoopSpec& loop);
  // Sets the generators as they were behind a loop that is over.
  void end(const std::string& loop) { recorded_.pin_generators(loop + "=exit", "exit"); }

  // Call when the loop over steps at this scope path is entered. Restores the objects before its newest step
  // that can be restored. Returns that step, and how many seconds into the iteration it began; std::nullopt
  // where no step can be restored. begin() then sets the generators of that step.
  struct Step {
    int64_t next = 0;
    double into = 0;
  };
  std::optional<Step> enter_steps(const std::string& loop, State& guards);
  void begin(const std::string& step) { recorded_.pin_generators(step, "entry"); }

  // Restores a block. Returns false if it must execute; a checkpoint of its that could not be restored is
  // passed over then. `loops`: the loops around it.
  bool skip(const std::string& at, State& state, const std::vector<LoopPosition>& loops);

  // Seconds that skipped executions took when they were recorded, minus the seconds that restoring them took.
  // The time of an iteration lacks them.
  double saved() const { return saved_; }
  // Adds to saved().
  void save(double seconds) { saved_ += seconds; }

 private:
  // Is nothing passed on by iterations that no guard holds, nor in files? Else it is made anew from the first
  // iteration on.
  bool is_held() const;

  bool restores_block(const std::string& at, State& state, const std::vector<LoopPosition>& loops);
  void pass_over(std::vector<std::string> files);

  Frontend& frontend_;
  Patience patience_;
  // What could not be read, and why.
  std::string refused_;
  RecordReader recorded_;
  // By scope path: the seconds of each execution of a block and of each iteration. For each `@step`: the
  // seconds from the start of its iteration.
  std::map<std::string, double> seconds_;
  // Blocks that change what they do not hold and others read; "": iterations do.
  std::set<std::string> not_restored_;
  Doubted doubted_;
  double saved_ = 0;
  // All of them, and those that take_passed_over() has not returned yet.
  std::set<std::string> passed_over_;
  std::vector<std::string> untold_;
};

}  // namespace flor::core
