// Watches a replay for `flor replay` until every selected unit has its file, or until that cannot happen any
// more.
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

// Collects, for the verdict, which workers took part: the ids come from the queue, and the details from the
// files that workers leave in the store.
class WorkerLog {
 public:
  explicit WorkerLog(core::ReplayDir replay) : replay_(std::move(replay)) {}

  // Remembers the workers that the status or the event names.
  void look(const queue::Status& status);
  void look(const queue::Event& event);
  bool empty() const { return seen_.empty(); }
  // Returns {"worker", "node", "gpu", "job", "task", "units", "seconds"} for each worker that was seen, or
  // that committed a unit.
  std::vector<core::Json> rows(const std::vector<queue::DoneUnit>& done) const;

 private:
  void see(const std::string& worker);
  core::ReplayDir replay_;
  std::set<std::string> seen_;
};

enum class End { done, failed, interrupted };

struct Watched {
  End end = End::failed;
  std::string why;                              // the reason of a failure, for the user; one line or more
  bool lacks_state = false;                     // would a replay that executes more not fail so?
  double seconds = 0;                           // until the last unit was there, without proof units
  std::map<int64_t, std::string> proof_errors;  // why proof units failed, by id
};

class Monitor {
 public:
  Monitor(core::ReplayDir replay, const core::Plan& plan, dispatch::Launcher& launcher, queue::Queue& queue,
          Display& display, const Interrupt& interrupt);

  // Call it when workers were started or adopted. If all workers have gone and units are missing, starts new
  // ones, at most `workers`, provided that the last ones made progress. With `grow`, also starts workers when
  // slots become free while units are missing. Ends all workers on failure or interruption. Proof units that
  // cannot be executed are no failure.
  Watched watch(std::size_t workers, bool grow = false);

  // Asks the queue once more which worker did what, and returns the rows for the verdict. If Redis does not
  // answer, uses what was seen before.
  std::vector<core::Json> worker_rows();

 private:
  bool refused(Watched& out) const;
  void tend_queue();
  void ask_queue();
  void read_news();
  void ask_anew();
  void redis_is_down(const queue::RedisDown& problem);
  void look_at_launcher();
  void look_for_idlers(const dispatch::Liveness& alive);
  void look_for_reason(const dispatch::Liveness& alive);
  bool may_come_back(const dispatch::Liveness& alive);
  void set_aside(const queue::SegmentInfo& segment);
  std::size_t missing() const;  // the number of units that are neither there nor set aside
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
  std::map<int64_t, std::string> proofs_aside_;  // the same for proof units
  std::optional<double> answered_;               // seconds until the last unit was there
  bool proving_said_ = false;
  int proving_rounds_ = 0;  // how often workers were started for proof units alone
  std::size_t units_ = 0;
  // Seconds of work of all selected units, and of those that were done when the watch began.
  double cost_ = 0, cost_before_ = 0;
  std::chrono::steady_clock::time_point begun_, tended_, grown_;
  std::size_t done_at_begin_ = 0;    // units there when the watch began
  std::size_t done_at_start_ = 0;    // units there when workers were last started
  int idle_rounds_ = 0;              // how often in a row workers brought no unit
  results::PollPace news_, proofs_;  // when to ask the queue for news, and when to look for proofs
  bool asked_ = false;               // the state of the queue was read, and its news continue from there
  // What does not answer: Redis, or the store. Empty: nothing.
  std::string down_;
  std::string launcher_trouble_;  // the trouble that the user was told
  // Since when workers run, but none has asked for a unit.
  std::optional<std::chrono::steady_clock::time_point> idle_since_;
  bool idlers_said_ = false;
  // Since when no worker runs, and what Slurm says to that; and the last that the user was told.
  std::optional<std::chrono::steady_clock::time_point> none_since_;
  std::string reason_, reason_said_;
  // Since when no worker lives, but Slurm still clears up behind some.
  std::optional<std::chrono::steady_clock::time_point> ending_since_;
};

}  // namespace flor::commands
