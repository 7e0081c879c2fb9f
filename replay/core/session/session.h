// What a program does, as the library sees it: loops, blocks, guards, rows. A Session records it or replays
// it. Called on one thread, the one that entered the first loop. Calls may throw; Runtime is the boundary
// that turns an exception into a warning (record) or a failed replay.
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
  bool range = true;  // over a range of numbers; else over a container or data loader, counted from 0
  int64_t begin = 0;
  int64_t end = -1;  // -1: not known before it ends
};

class Session {
 public:
  virtual ~Session() = default;

  // Loops nest; each call speaks of the innermost one. The session keeps the scope.
  virtual void enter_loop(const LoopSpec& loop) = 0;
  // Ends the present iteration, if any. `natural`: the value that would follow, nothing at the loop's end.
  // Returns the value to go on with. A container's value may lie ahead; it is then advanced to.
  virtual std::optional<int64_t> next(std::optional<int64_t> natural) = 0;
  virtual void begin(int64_t value) = 0;  // the iteration with this value
  virtual void leave_loop(LoopEnd how) = 0;

  // True: execute the block, then leave_block. False: its effects were restored; leave_block follows as well.
  virtual bool enter_block(const std::string& name, State& state) = 0;
  virtual void leave_block(bool unwound) = 0;

  virtual void enter_guard(State& state) = 0;
  virtual void leave_guard(State& state) = 0;

  virtual void log(const Row& row) = 0;
  // Of a row that is logged now: nothing where it would be dropped, and need not be computed.
  virtual std::optional<RowFiles> row_files() = 0;

  // A hyper-parameter's recorded or given value. `used` says which value the program goes on with.
  virtual std::optional<std::string> argument(const std::string& name) = 0;
  virtual void used_argument(const std::string& name, const std::string& value) = 0;

  virtual void finish(int exit_code) = 0;  // the process ends by exit() or return from main

  // What was logged to a session that keeps no rows from now on.
  struct Unkept {
    std::vector<Line> rows;
    RowFiles files;  // that these rows name; null: there are none
  };
  // Nothing while the session keeps rows.
  virtual std::optional<Unkept> take_unkept() { return std::nullopt; }

  virtual bool records() const = 0;

  // A call threw; none follows. Record: the run is marked and training goes on. Replay: the worker ends.
  virtual void give_up(const std::string& why) noexcept = 0;
};

std::unique_ptr<Session> make_recorder(const Settings& settings, Frontend& frontend, Scope& scope);
std::unique_ptr<Session> make_replayer(const Settings& settings, Frontend& frontend, Scope& scope);

}  // namespace flor::core
