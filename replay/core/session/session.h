// The interface that recording and replaying implement: what a program does, as loops, blocks, guards and
// rows. Runtime calls it on one thread, the one that owns the session. Calls may throw; Runtime turns an
// exception into a warning (record) or a failed replay.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/buffers.h"
#include "core/config/settings.h"
#include "core/log/line.h"
#include "core/log/log_files.h"
#include "core/log/row.h"
#include "core/store/manifest.h"
#include "core/store/scope.h"

namespace flor::core {

struct LoopSpec {
  std::string name;
  // Over a range of numbers. False: over a container or data loader, counted from 0.
  bool range = true;
  int64_t begin = 0;
  // -1: unknown until the loop ends.
  int64_t end = -1;
  // Over a container that gives other elements where it is begun anew.
  bool one_pass = false;
};

class Session {
 public:
  virtual ~Session() = default;

  // Loops nest; each call concerns the innermost one. The session keeps the scope.
  virtual void enter_loop(const LoopSpec& loop) = 0;
  // Ends the present iteration, if any. `natural` is the value that would follow; std::nullopt at the loop's
  // end. Returns the value to go on with. It may be larger than `natural`, also for a container, which then
  // must be advanced to it.
  virtual std::optional<int64_t> next(std::optional<int64_t> natural) = 0;
  // Begins the iteration with this value.
  virtual void begin(int64_t value) = 0;
  virtual void leave_loop(LoopEnd how) = 0;

  // Returns true to execute the block, false where its effects were restored. leave_block() follows in both
  // cases.
  virtual bool enter_block(const std::string& name, State& state) = 0;
  virtual void leave_block(bool unwound) = 0;

  virtual void enter_guard(State& state) = 0;
  virtual void leave_guard(State& state) = 0;

  // See Runtime.
  virtual void note_unheld(const std::string& /*block*/, const std::string& /*path*/, bool /*matters*/) {}
  // The program trains together with other processes.
  virtual void note_group() {}
  // The front end took these seconds from training.
  virtual void spent(double /*seconds*/) {}

  virtual void reject(const std::string& /*why*/) {}
  // The program uses a value that a restore left unknown: what it computes from now on would be wrong.
  virtual void cannot_go_on(const std::string& /*why*/) {}

  virtual void log(const Row& row) = 0;
  // The files for a row that is logged now. std::nullopt: the row would be dropped, so its value need not be
  // computed.
  virtual std::optional<RowFiles> row_files() = 0;

  // argument() returns the recorded or given value of a hyper-parameter. used_argument() tells which value
  // the program goes on with.
  virtual std::optional<std::string> argument(const std::string& name) = 0;
  virtual void used_argument(const std::string& name, const std::string& value) = 0;

  // Call when the process ends by exit() or by return from main.
  virtual void finish(int exit_code) = 0;

  // Rows that were logged before the session knew that it has no run to keep them in: another process of the
  // launch records, the program entered no loop, or the recording was given up.
  struct Unkept {
    std::vector<Line> rows;
    // The files that these rows name; null: none.
    RowFiles files;
  };
  // Returns these rows once the session keeps no rows. Until then returns std::nullopt.
  virtual std::optional<Unkept> take_unkept() { return std::nullopt; }

  virtual bool records() const = 0;

  // What a call failed on: something of this process or node, such as a file or memory, while another process
  // may manage; or the question itself.
  enum class Failed { here, on_the_question };
  // Call after a call threw; no other call follows. Recording marks the run, and training goes on. Replaying
  // ends the worker, and the whole replay if it failed on the question.
  virtual void give_up(const std::string& why, Failed failed) noexcept = 0;
};

// Implemented in core/recording and core/replaying. The arguments but `settings` must outlive the session.
std::unique_ptr<Session> make_recorder(const Settings& settings, Frontend& frontend, Scope& scope);
std::unique_ptr<Session> make_replayer(const Settings& settings, Frontend& frontend, Scope& scope);

}  // namespace flor::core
