// The process-wide entry of the library, called by front ends: chooses plain, record or replay from the
// environment at the first call, and is the boundary that no exception of ours crosses.
//
// Plain, or on any thread but the one that entered the first loop: loops are plain ranges, blocks execute,
// rows are printed (with FLOR_LOG also written there, unless they are recorded). A failure while recording is
// one warning, then the program goes on plain.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/log/log_files.h"
#include "core/log/printer.h"
#include "core/log/row.h"
#include "core/log/row_file.h"
#include "core/session/session.h"

namespace flor::core {

class Runtime {
 public:
  // Never destroyed: exit handlers of the program may still call it.
  explicit Runtime(std::unique_ptr<Frontend> frontend);

  bool active() const;                           // recording or replaying, on this thread
  bool recording() const { return recording_; }  // on any thread
  // On any thread, and in forked children: they must keep from the program's files, too.
  bool replaying() const { return replaying_; }

  void enter_loop(const LoopSpec& loop);
  std::optional<int64_t> next(std::optional<int64_t> natural);
  void begin(int64_t value);
  void leave_loop(LoopEnd how);
  bool enter_block(const std::string& name, State* state);  // state: nullptr unless active()
  void leave_block(bool unwound);
  void enter_guard(State& state);
  void leave_guard(State& state);
  void log(const Row& row);
  // For a row that is computed in the background. Nothing: it would be dropped.
  struct RowTarget {
    RowFiles files;    // null: nowhere
    std::string stem;  // of their names: the scope path, as in the names of checkpoints
  };
  std::optional<RowTarget> row_destination();
  void value_came() { printer_.advance(); }  // of such a row; on any thread
  std::string argument(const std::string& name, const std::string& fallback);
  // In place of a text that the program can make nothing of: what it uses instead.
  void use_argument(const std::string& name, const std::string& value);

  void finish(int exit_code) noexcept;
  // In a forked child: the run belongs to the parent.
  void forget() noexcept;

 private:
  template <class Result, class Call>
  Result guarded(Result fallback, Call call);
  template <class Call>
  void guarded(Call call) {
    guarded(true, [&] {
      call();
      return true;
    });
  }
  void give_up(const std::string& why);
  // From now on rows go where FLOR_LOG says: those that the session could not keep, and all that follow.
  void keep_rows_elsewhere(Session::Unkept unkept);
  void keep_unkept_rows();
  void finish_at_exit();
  bool
  own();  // as active(); the first thread that enters a loop, block or guard owns the session from then on

  std::unique_ptr<Frontend> frontend_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<RowFile> row_file_;    // of FLOR_LOG, where no session keeps the rows
  std::atomic<RowFile*> rows_{nullptr};  // the same, for any thread
  Printer printer_;
  std::once_flag at_exit_;
  Scope scope_;  // of the owning thread, for the session
  std::atomic<std::thread::id> owner_{};
  std::atomic<int> depth_{0};  // loops of the owner that are open
  std::atomic<bool> recording_{false};
  bool replaying_ = false;
  pid_t process_;
};

}  // namespace flor::core
