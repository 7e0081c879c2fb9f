// Watches a replay until every selected unit has its file, or until that will not happen.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "commands/base/interrupt.h"
#include "commands/replay/progress.h"
#include "core/store/plan.h"
#include "core/store/store.h"
#include "dispatch/launcher.h"
#include "queue/queue.h"
#include "results/poll_pace.h"
#include "results/units_done.h"

namespace flor::commands {

// Who worked, for the verdict: workers that the queue named, with what they left of themselves in the store.
class WorkerLog {
 public:
  explicit WorkerLog(core::ReplayDir replay) : replay_(std::move(replay)) {}

  void look(const queue::Status& status);  // remembers who is there
  void look(const queue::Event& event);
  bool empty() const { return seen_.empty(); }
  // {"worker", "node", "gpu", "job", "task", "units", "seconds"} of each that was seen or committed a unit.
  std::vector<core::Json> rows(const std::vector<queue::DoneUnit>& done) const;

 private:
  void see(const std::string& worker);
  core::ReplayDir replay_;
  std::set<std::string> seen_;
};

enum class End { done, failed, interrupted };

struct Watched {
  End end = End::failed;
  std::string why;                              // of a failure: for the user, one line or more
  double seconds = 0;                           // until the last unit was there; proof units come after it
  std::map<int64_t, std::string> proof_errors;  // why proof units failed, by id
};

class Monitor {
 public:
  Monitor(core::ReplayDir replay, const core::Plan& plan, dispatch::Launcher& launcher, queue::Queue& queue,
          Display& display, const Interrupt& interrupt);

  // Workers are running, or the launcher has adopted some. Starts more where all have gone, units are missing
  // and the last ones got on; so at most `workers` at a time. With `grow` also where places become free while
  // units are missing. On failure and interruption all workers are ended. Proof units that cannot be
  // executed are no failure.
  Watched watch(std::size_t workers, bool grow = false);

  // Reads once more who did what; of a Redis that does not answer, what was seen before.
  std::vector<core::Json> worker_rows();

 private:
  std::string refused();
  void tend_queue();
  void ask_queue();
  void read_news();
  void ask_anew();
  void redis_is_down(const queue::RedisDown& problem);
  void look_at_launcher();
  void look_for_idlers(const dispatch::Liveness& alive);
  void set_aside(const queue::SegmentInfo& segment);
  std::size_t missing() const;  // units that are neither there nor set aside
  std::string without_those_aside() const;
  bool restart(std::size_t workers, Watched& out);
  bool is_answered() const { return done_.all_are_listed(); }
  bool is_proved();  // announces, once, what is left to prove
  bool restart_provers(std::size_t workers);
  void grow(const dispatch::Liveness& alive);
  Snapshot snapshot(const dispatch::Liveness& alive) const;
  double seconds() const;

  core::ReplayDir replay_;
  const core::Plan& plan_;
  dispatch::Launcher& launcher_;
  queue::Queue& queue_;
  Display& display_;
  const Interrupt& interrupt_;
  WorkerLog log_;
  results::UnitsDone done_;
  std::map<int64_t, std::string> aside_;         // units that failed too often, and why
  std::map<int64_t, std::string> proofs_aside_;  // the same of proof units
  std::optional<double> answered_;               // seconds until the last unit was there
  bool proving_said_ = false;
  int proving_rounds_ = 0;  // workers that were started for proof units alone
  std::size_t units_ = 0;
  double cost_ = 0, cost_before_ = 0;  // of all selected units; of those done when the watch began
  std::chrono::steady_clock::time_point begun_, tended_, grown_;
  std::size_t done_at_begin_ = 0;    // units there when the watch began
  std::size_t done_at_start_ = 0;    // units there when workers were last started
  int idle_rounds_ = 0;              // of workers that brought no unit, in a row
  results::PollPace news_, proofs_;  // when to ask the queue what is new, and to look for proofs
  bool asked_ = false;               // the queue told its state, and its news go on from there
  bool redis_down_ = false;
  std::string launcher_trouble_;                                     // said
  std::optional<std::chrono::steady_clock::time_point> idle_since_;  // workers run, and none asked for a unit
  bool idlers_said_ = false;
};

}  // namespace flor::commands
