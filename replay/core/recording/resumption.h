// The way of a resumed recording back to where the earlier attempt ended: to the newest iteration whose
// checkpoint can be read; without flor::checkpointing by running from the start with its blocks skipped
// (pseudoresume). What lies behind is executed and recorded again. Used from the training thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/checkpoint/record_reader.h"
#include "core/policy/retention.h"

namespace flor::core {

class Resumption {
 public:
  // Reads what is recorded so far: to be made before anything is added. Throws Error where there is no loop
  // to go on with. `damaged` is told of checkpoints that cannot be used.
  Resumption(const RunDir& run, Frontend& frontend, std::function<void(const std::string&)> damaged);

  const Manifest& manifest() const { return recorded_.index().manifest(); }
  const RecordedLoop* loop(const std::string& name) const { return recorded_.index().loop(name); }
  bool has_checkpoint(const std::string& at) const;

  // Says why, and ends the process: to train on from here would not be what was asked for. Where nobody asked
  // (was_resumption_asked_for()), the program starts again instead, unrecorded: a requeued job trains on in
  // any case.
  [[noreturn]] static void impossible(const std::string& why);

  // The checkpoints that are there, oldest first; those that cannot be read are left out.
  std::vector<StoredCheckpoint> stored() const;

  // What an outermost loop goes on with.
  struct Entry {
    int64_t next = 0;    // the value of its first iteration
    int64_t before = 0;  // how many iterations lie before that
    double seconds = 0;  // that they took
    bool over = false;   // it ended on record, and all of it is restored
  };
  // Restores the newest iteration of the loop whose checkpoint can be read. Without one the loop goes on with
  // its first iteration, and `guards` are as they were.
  Entry enter(const RecordedLoop& loop, State& guards);

  // Of the loop over steps at this scope path, which is about to be entered: restores the objects in front of
  // its newest step that can be, and says which and how far into the iteration that is, in seconds. begin()
  // then sets the generators of that step.
  struct Step {
    int64_t next = 0;
    double into = 0;
  };
  std::optional<Step> enter_steps(const std::string& loop, State& guards);
  void begin(const std::string& step) { recorded_.pin_generators(step, "entry"); }

  // Restores a block; false: it must execute. `loops`: those around it.
  bool skip(const std::string& at, State& state, const std::vector<LoopPosition>& loops);

  // Seconds that skipped executions took when they were recorded, less what restoring them took now: what the
  // time of an iteration lacks.
  double saved() const { return saved_; }
  void save(double seconds) { saved_ += seconds; }

 private:
  RecordReader recorded_;
  // Of each execution of a block and each iteration, by scope path; of each `@step`: into its iteration.
  std::map<std::string, double> seconds_;
  double saved_ = 0;
};

}  // namespace flor::core
