// The worker of a replay inside the training process: claims segments from the agent, publishes and commits
// units, and ends or restarts the process when it has no more work.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/agent/client.h"
#include "core/checkpoint/buffers.h"
#include "core/config/settings.h"
#include "core/replaying/work_log.h"
#include "core/session/termination.h"
#include "core/store/plan.h"
#include "core/store/presence.h"
#include "core/store/store.h"

namespace flor::core {

class Worker {
 public:
  Worker(const Settings& settings, RunDir run, ReplayDir replay, bool collects);

  // Joins the replay that FLOR_REPLAY names (RUN or RUN/REPLAY). Without a replay id the tasks of one job
  // agree on one: `flor prepare` makes the plan, and each task that finds no unit left runs `flor collect`.
  // Returns null if another process of this task is the worker. Ends the process if one outside of this task
  // is (take_worker_lock()).
  static std::unique_ptr<Worker> join(const Settings& settings);

  const RunDir& run() const { return run_; }
  const Plan& plan() const { return plan_; }

  // Sets the environment as recorded, as far as possible, and writes down which worker runs where. Ends the
  // process if the environment still differs, unless the plan allows any device: equal bits cannot be
  // expected. Also ends it if the program is not the one that was planned, or the run was resumed since.
  void introduce(Frontend& frontend, const Manifest& recorded);

  // Waits for the next unit to execute, `from` or later (-1: any). Does not return if no unit is left for
  // this process: the process ends, or restarts if only earlier units are left.
  const Unit& next_unit(int64_t from);

  // Returns where the unit may count although the program ended in it as the record does not know (`why`): it
  // has ended so often enough (repetition.h). Else the unit is handed back and the process starts anew.
  // `outcome` has all that the unit wrote. After SIGTERM the process ends.
  void require_repetition(const Unit& unit, const std::string& outcome, const std::string& why);

  // Publishes the file of the unit and commits it. After SIGTERM hands the unit back and ends the process
  // instead: a program with a handler of its own may have left any of its loops.
  void commit(const Unit& unit, const std::string& content, double seconds);

  // Called at the end of the program. Restarts the program if this worker gets another unit. Else, where it
  // gives the verdict, runs `flor collect`, and ends the process if that fails. Returns otherwise, so that
  // the program ends by itself.
  void finish();

  // Adds a row about a restore of `seconds` to the timeline of the replay. Ignores errors.
  void restored(const std::string& at, double seconds);
  // Warns on stderr, and adds the line to the reasons of the verdict.
  void note(const std::string& line);

  // Reports, once for all workers, why the replay cannot answer, and ends the process. In a proof unit hands
  // the unit back and restarts instead. `lacks_state`: would a replay that executes more not fail so?
  [[noreturn]] void fail(const std::string& why, bool lacks_state = false);
  // Reports why this process cannot go on, hands its unit back as a failed try, and ends. The other workers
  // go on, and one of them tries the unit again.
  [[noreturn]] void drop_out(const std::string& why);
  // Ends the process with this exit code. With code 0, a worker that gives the verdict runs `flor collect`
  // first, and ends with its exit code.
  [[noreturn]] void leave(int code);
  // Hands a held segment back, and executes the program again from its start.
  [[noreturn]] void restart();

 private:
  AgentClient::Hello hello() const;
  AgentClient::Claim claim(int64_t from);
  // Returns `segment` where this worker holds unit current_.
  AgentClient::Kind hold(int64_t from);
  bool choose_proof();
  void save() const;
  void leave_after_sigterm();
  [[noreturn]] void leave_now(int code);
  // Runs `flor collect` if this worker gives the verdict. Returns its exit code.
  int collect() const;

  RunDir run_;
  ReplayDir replay_;
  bool collects_;
  std::string redis_, name_;
  Plan plan_;
  std::optional<Presence> presence_;
  std::map<std::string, std::string> environment_;
  std::string refused_;
  std::vector<std::string> notes_;
  // What could not be reached at the last claim.
  std::string waited_for_;
  AgentClient agent_;
  WorkLog work_;
  // Does this worker hold a segment?
  bool holding_ = false;
  int64_t current_ = 0, end_ = 0;
  // The units to execute if current_ is a proof slot.
  Unit proof_;
  // Hands the segment back when the process is preempted, so that this does not count as a failed try.
  std::optional<Termination> termination_;
};

}  // namespace flor::core
