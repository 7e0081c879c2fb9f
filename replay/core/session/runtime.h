// The entry of the library in a process, called by front ends. It chooses plain, record or replay from the
// environment when it is created. No exception of the library leaves it.
//
// The first thread that enters a loop, block or guard owns the session. On any other thread, and in plain
// mode, loops are plain ranges, blocks execute, and rows are printed; rows that no session keeps also go to
// FLOR_LOG where it is set. A failure while recording gives one warning, then the program goes on plain.
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
  // Create one per process, and never destroy it: exit handlers of the program may still call it.
  explicit Runtime(std::unique_ptr<Frontend> frontend);

  // Does this thread record or replay?
  bool active() const;
  // On any thread.
  bool recording() const { return recording_; }
  // On any thread, and in forked children: they must also leave the program's files alone.
  bool replaying() const { return replaying_; }

  void enter_loop(const LoopSpec& loop);
  std::optional<int64_t> next(std::optional<int64_t> natural);
  void begin(int64_t value);
  void leave_loop(LoopEnd how);
  // `state` may be nullptr unless active().
  bool enter_block(const std::string& name, State* state);
  void leave_block(bool unwound);
  void enter_guard(State& state);
  void leave_guard(State& state);
  // Call where an execution of a block (""; an iteration) was seen to change what it does not hold.
  // `matters`: something else reads it, and a resumed recording must not restore the block.
  void note_unheld(const std::string& block, const std::string& path, bool matters);
  // Call where the program is in a group of processes that train together. Its recording is not resumed: the
  // others would begin anew.
  void note_group();
  // Counts seconds that the front end took on the training thread as a cost of the recording.
  void spent(double seconds);
  // Call where the program fails by a fault of its own, which no other try would cure. Ends a replay, unless
  // the recorded program failed there, too. May not return.
  void reject(const std::string& why);
  // The program uses a value that a restore left unknown. Ends a replay and a resumed recording.
  void cannot_go_on(const std::string& why);
  void log(const Row& row);
  // Where the value of a row goes that is computed in the background. std::nullopt: the row would be dropped.
  struct RowTarget {
    // Null: nowhere.
    RowFiles files;
    // The stem of the files' names: the scope path, as in the names of checkpoints.
    std::string stem;
  };
  std::optional<RowTarget> row_destination();
  // Call when the value of such a row has been computed. Any thread.
  void value_came() { printer_.advance(); }
  std::string argument(const std::string& name, const std::string& fallback);
  // Call where the program cannot use the text of an argument: sets the value that it uses instead.
  void use_argument(const std::string& name, const std::string& value);

  // Acts once.
  void finish(int exit_code) noexcept;
  // Call in a forked child: the run belongs to the parent.
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
  void give_up(const std::string& why, Session::Failed failed);
  // Sends rows to FLOR_LOG from now on: those that the session could not keep, and all that follow.
  void keep_rows_elsewhere(Session::Unkept unkept);
  void keep_unkept_rows();
  void finish_at_exit();
  // As active(), but first makes the calling thread the owner where there is none.
  bool own();
  // As active(). Where there is no owner yet, any thread may call the session: then holds `lock`, so that one
  // at a time does, and none while another becomes the owner.
  bool may_call(std::unique_lock<std::mutex>& lock);

  std::unique_ptr<Frontend> frontend_;
  std::unique_ptr<Session> session_;
  // The file of FLOR_LOG, where no session keeps the rows.
  std::unique_ptr<RowFile> row_file_;
  // The same, for any thread.
  std::atomic<RowFile*> rows_{nullptr};
  Printer printer_;
  std::once_flag at_exit_;
  bool finished_ = false;
  // The scope of the owning thread, for the session.
  Scope scope_;
  std::atomic<std::thread::id> owner_{};
  std::mutex unowned_;  // see may_call()
  // How many loops of the owner are open.
  std::atomic<int> depth_{0};
  std::atomic<bool> recording_{false};
  bool replaying_ = false;
  pid_t process_;
};

}  // namespace flor::core
