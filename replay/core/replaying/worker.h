// A replay's worker inside the training process: takes segments from the agent, publishes and commits units,
// and ends or restarts the process when there is nothing (more) to do here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/agent/client.h"
#include "core/checkpoint/buffers.h"
#include "core/config/settings.h"
#include "core/session/termination.h"
#include "core/store/plan.h"
#include "core/store/presence.h"
#include "core/store/store.h"

namespace flor::core {

class Worker {
 public:
  Worker(const Settings& settings, RunDir run, ReplayDir replay, bool collects);

  // FLOR_REPLAY (RUN or RUN/REPLAY) of this process. Without a replay id the tasks of one job agree on one,
  // and the plan is made by `flor prepare`; the last of them collects. Nothing: another process of this task
  // is the worker.
  static std::unique_ptr<Worker> join(const Settings& settings);

  const RunDir& run() const { return run_; }
  const Plan& plan() const { return plan_; }

  // Makes the environment the recorded one, as far as that can be, and tells the replay who works here and on
  // what. Where it differs the process leaves: equal bits cannot be expected.
  void introduce(Frontend& frontend, const std::map<std::string, std::string>& recorded);

  // The next unit to execute, `from` or later (-1: any). Waits for one. When nothing is left for this process
  // it does not return: the process leaves, or starts anew where only earlier units are left.
  const Unit& next_unit(int64_t from);

  // Publishes the unit's file and commits it.
  void commit(const Unit& unit, const std::string& content, double seconds);

  // Behind the last unit the program ends by itself; returns when no unit is left for this process, else
  // starts it anew.
  void finish();

  void restored(const std::string& at, double seconds);  // for the replay's timeline
  void note(const std::string& line);                    // a warning: stderr, and the verdict's reasons

  // The replay cannot answer: says why, once for all workers, and leaves.
  [[noreturn]] void fail(const std::string& why);
  [[noreturn]] void leave(int code);
  [[noreturn]] void restart();

 private:
  AgentClient::Hello hello() const;
  AgentClient::Claim claim(int64_t from);
  AgentClient::Kind hold(int64_t from);  // `segment`: unit current_ is this worker's
  bool choose_proof();
  void save() const;
  [[noreturn]] void leave_now(int code);
  int collect() const;  // the verdict, where this worker gives it: the exit code of `flor collect`

  RunDir run_;
  ReplayDir replay_;
  bool collects_;
  std::string redis_, name_;
  Plan plan_;
  std::optional<Presence> presence_;
  std::map<std::string, std::string> environment_;
  std::string refused_;
  std::vector<std::string> notes_;
  std::string waited_for_;  // what was out of reach when work was last asked for
  AgentClient agent_;
  bool holding_ = false;  // a segment
  int64_t current_ = 0, end_ = 0;
  Unit proof_;                              // what it executes where current_ is a proof slot
  std::optional<Termination> termination_;  // hands the segment back: to be preempted is no failed try
};

}  // namespace flor::core
