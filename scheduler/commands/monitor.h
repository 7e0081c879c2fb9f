// Watches a replay until every selected unit has its file, or until that will not happen.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "commands/interrupt.h"
#include "commands/progress.h"
#include "core/plan.h"
#include "core/store.h"
#include "dispatch/launcher.h"
#include "queue/queue.h"

namespace flor::commands {

// Who worked, for the verdict: workers that the queue named, with what they left of themselves in the store.
class WorkerLog {
 public:
  explicit WorkerLog(core::ReplayDir replay) : replay_(std::move(replay)) {}

  void look(const queue::Status& status);  // remembers who is there
  bool empty() const { return seen_.empty(); }
  // {"worker", "node", "gpu", "job", "task", "units", "seconds"} of each that was seen or committed a unit.
  std::vector<core::Json> rows(const std::vector<queue::DoneUnit>& done) const;

 private:
  core::ReplayDir replay_;
  std::set<std::string> seen_;
};

enum class End { done, failed, interrupted };

struct Watched {
  End end = End::failed;
  std::string why;     // of a failure: for the user, one line or more
  double seconds = 0;  // until the last unit was there
};

class Monitor {
 public:
  Monitor(core::ReplayDir replay, const core::Plan& plan, dispatch::Launcher& launcher, queue::Queue& queue,
          Display& display, const Interrupt& interrupt);

  // Workers are running, or the launcher has adopted some. Starts more where all have gone, units are missing
  // and the last ones got on; so at most `workers` at a time. With `grow` also where places become free while
  // units are missing. On failure and interruption all workers are ended.
  Watched watch(std::size_t workers, bool grow = false);

  // Reads once more who did what; of a Redis that does not answer, what was seen before.
  std::vector<core::Json> worker_rows();

 private:
  bool count();  // true: more units are there than at the last call
  std::string refused();
  void tend_queue();
  void look_at_launcher();
  void look_for_idlers(const dispatch::Liveness& alive);
  void set_aside(const queue::SegmentInfo& segment);
  std::size_t missing() const;  // units that are neither there nor set aside
  std::string without_those_aside() const;
  bool restart(std::size_t workers, Watched& out);
  void grow(const dispatch::Liveness& alive);
  Snapshot snapshot(const dispatch::Liveness& alive) const;
  double seconds() const;
  double cost_of(const std::set<int64_t>& units) const;

  core::ReplayDir replay_;
  const core::Plan& plan_;
  dispatch::Launcher& launcher_;
  queue::Queue& queue_;
  Display& display_;
  const Interrupt& interrupt_;
  WorkerLog log_;
  std::set<int64_t> done_;
  std::map<int64_t, std::string> aside_;  // units that failed too often, and why
  std::size_t units_ = 0;
  double cost_ = 0, cost_before_ = 0;  // of all selected units; of those done when the watch began
  std::chrono::steady_clock::time_point begun_, tended_, grown_;
  std::size_t done_at_begin_ = 0;  // units there when the watch began
  std::size_t done_at_start_ = 0;  // units there when workers were last started
  int idle_rounds_ = 0;            // of workers that brought no unit, in a row
  bool redis_down_ = false;
  std::string launcher_trouble_;                                     // said
  std::optional<std::chrono::steady_clock::time_point> idle_since_;  // workers run, and none asked for a unit
  bool idlers_said_ = false;
};

}  // namespace flor::commands
