#include "core/session/runtime.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/messages.h"
#include "core/config/arguments.h"
#include "core/config/settings.h"
#include "core/log/log_files.h"
#include "core/log/row.h"
#include "core/store/store.h"

namespace flor::core {
namespace {

Runtime* the_runtime = nullptr;

// Where this thread is, for printing rows when no session keeps the scope.
thread_local Scope plain_scope;

Line printed(const Row& row, const Scope& scope) {
  std::string line;
  for (const auto& [name, value] : scope.loops()) line += name + "=" + std::to_string(value) + " ";
  line += row.name + "=" + row.value;
  if (row.later.valid()) return {std::move(line), row.later, ""};
  return line;
}

}  // namespace

Runtime::Runtime(std::unique_ptr<Frontend> frontend) : frontend_(std::move(frontend)), process_(::getpid()) {
  the_runtime = this;
  const std::string asked = environment_variable("FLOR_RECORD").value_or("0");
  const bool record = asked == "1";
  if (!record && asked != "0")
    warn("FLOR_RECORD is 1 or 0; '" + asked + "' is neither, and nothing is recorded");
  const bool replay = environment_variable("FLOR_REPLAY").has_value();
  if (!record && !replay) {
    keep_rows_elsewhere({});
    return;
  }
  replaying_ = replay;
  guarded([&] {
    const Settings settings = Settings::load();
    session_ =
        replay ? make_replayer(settings, *frontend_, scope_) : make_recorder(settings, *frontend_, scope_);
  });
  recording_ = session_ != nullptr && session_->records();
  ::pthread_atfork(nullptr, nullptr, [] {
    FileLock::drop_in_child();
    the_runtime->forget();
  });
  finish_at_exit();
}

void Runtime::finish_at_exit() {
  std::call_once(at_exit_,
                 [] { ::on_exit([](int status, void*) { the_runtime->finish(status); }, nullptr); });
}

bool Runtime::active() const {
  if (!session_) return false;
  const auto owner = owner_.load();
  return owner == std::thread::id() || owner == std::this_thread::get_id();
}

bool Runtime::own() {
  if (!session_) return false;
  if (owner_.load() == std::thread::id()) {
    const std::lock_guard<std::mutex> lock(unowned_);
    std::thread::id nobody;
    owner_.compare_exchange_strong(nobody, std::this_thread::get_id());
  }
  return active();
}

bool Runtime::may_call(std::unique_lock<std::mutex>& lock) {
  if (session_ && owner_.load() == std::thread::id()) lock = std::unique_lock(unowned_);
  return active();
}

template <class Result, class Call>
Result Runtime::guarded(Result fallback, Call call) {
  try {
    return call();
  } catch (const LocalError& problem) {
    give_up(problem.what(), Session::Failed::here);
  } catch (const Error& problem) {
    give_up(problem.what(), Session::Failed::on_the_question);
  } catch (const std::exception& problem) {
    // Of the system, the standard library or LibTorch, as where memory is full.
    give_up(problem.what(), Session::Failed::here);
  } catch (...) {
    give_up("an unknown exception", Session::Failed::here);
  }
  return fallback;
}

void Runtime::give_up(const std::string& why, Session::Failed failed) {
  if (!session_) {
    warn("cannot begin, the program runs as if flor were not there: " + why);
    if (!replaying_) keep_rows_elsewhere({});
    return;
  }
  session_->give_up(why, failed);
  keep_unkept_rows();
  forget();
}

void Runtime::keep_rows_elsewhere(Session::Unkept unkept) {
  const auto where = environment_variable("FLOR_LOG");
  if (!where || row_file_) return;
  row_file_ = std::make_unique<RowFile>(*where, std::move(unkept.files));
  for (auto& row : unkept.rows) row_file_->append(std::move(row));
  rows_ = row_file_.get();
  finish_at_exit();
}

void Runtime::keep_unkept_rows() {
  if (!session_) return;
  if (auto unkept = session_->take_unkept()) keep_rows_elsewhere(std::move(*unkept));
}

void Runtime::forget() noexcept {
  // Not destroyed: calls of its loops and blocks may still be on the stack, and a forked child does not have
  // its threads.
  [[maybe_unused]] Session* forgotten = session_.release();
  recording_ = false;
  if (owner_.load() != std::this_thread::get_id()) return;
  try {
    // So that rows are still printed with their loops.
    plain_scope = scope_.without_blocks();
  } catch (const std::exception&) {
  }
}

void Runtime::finish(int exit_code) noexcept {
  if (::getpid() != process_ || std::exchange(finished_, true)) return;
  guarded([&] {
    // A recording must not keep the program from ending. A replay waits: its rows are its result.
    if (recording_) {
      printer_.drain(std::chrono::duration<double>(hung_seconds()));
    } else {
      printer_.drain();
    }
    Printer::flush();
  });
  // If another thread calls exit() in the middle of training, the session must not end what the training
  // thread holds. The run then counts as killed, and the unit as not finished.
  if (session_ && (owner_.load() == std::this_thread::get_id() || depth_ == 0)) {
    guarded([&] {
      session_->finish(exit_code);
      keep_unkept_rows();
    });
  }
  guarded([&] {
    if (RowFile* rows = rows_) rows->sync();
  });
}

void Runtime::enter_loop(const LoopSpec& loop) {
  if (!own()) {
    plain_scope.enter_loop(clean_name(loop.name, true));
    return;
  }
  ++depth_;
  guarded([&] {
    session_->enter_loop(loop);
    keep_unkept_rows();
  });
}

std::optional<int64_t> Runtime::next(std::optional<int64_t> natural) {
  if (!active()) return natural;
  return guarded(natural, [&] { return session_->next(natural); });
}

void Runtime::begin(int64_t value) {
  if (!active()) {
    plain_scope.set_value(value);
    return;
  }
  guarded([&] { session_->begin(value); });
}

void Runtime::leave_loop(LoopEnd how) {
  if (!active()) {
    plain_scope.leave();
    return;
  }
  --depth_;
  guarded([&] { session_->leave_loop(how); });
}

bool Runtime::enter_block(const std::string& name, State* state) {
  if (state == nullptr || !own()) return true;
  return guarded(true, [&] {
    const bool executes = session_->enter_block(name, *state);
    keep_unkept_rows();
    return executes;
  });
}

void Runtime::leave_block(bool unwound) {
  if (active()) guarded([&] { session_->leave_block(unwound); });
}

void Runtime::enter_guard(State& state) {
  if (own()) guarded([&] { session_->enter_guard(state); });
}

void Runtime::leave_guard(State& state) {
  if (active()) guarded([&] { session_->leave_guard(state); });
}

void Runtime::note_unheld(const std::string& block, const std::string& path, bool matters) {
  if (active()) guarded([&] { session_->note_unheld(block, path, matters); });
}

void Runtime::note_group() {
  if (active()) guarded([&] { session_->note_group(); });
}

void Runtime::spent(double seconds) {
  if (active()) guarded([&] { session_->spent(seconds); });
}

void Runtime::reject(const std::string& why) {
  if (active()) guarded([&] { session_->reject(why); });
}

void Runtime::cannot_go_on(const std::string& why) {
  if (active()) guarded([&] { session_->cannot_go_on(why); });
}

void Runtime::log(const Row& row) {
  if (row.later.valid()) finish_at_exit();
  std::unique_lock<std::mutex> lock;
  if (!may_call(lock)) {
    if (!row.is_quiet) printer_.print(printed(row, plain_scope));
    if (RowFile* rows = rows_) rows->log(row, plain_scope);
    return;
  }
  if (session_->records() && !row.is_quiet) printer_.print(printed(row, scope_));
  if (RowFile* rows = rows_) rows->log(row, scope_);
  guarded([&] { session_->log(row); });
}

std::optional<Runtime::RowTarget> Runtime::row_destination() {
  std::unique_lock<std::mutex> lock;
  const bool mine = may_call(lock);
  const std::string stem = checkpoint_stem((mine ? scope_ : plain_scope).path(), 0);
  if (RowFile* rows = rows_) return RowTarget{rows->files(), stem};
  if (!mine) return RowTarget{nullptr, stem};
  const auto files = guarded(std::optional<RowFiles>(), [&] { return session_->row_files(); });
  if (!files) return std::nullopt;
  return RowTarget{*files, stem};
}

void Runtime::use_argument(const std::string& name, const std::string& value) {
  std::unique_lock<std::mutex> lock;
  if (may_call(lock)) guarded([&] { session_->used_argument(name, value); });
}

std::string Runtime::argument(const std::string& name, const std::string& fallback) {
  std::unique_lock<std::mutex> lock;
  if (!may_call(lock)) {
    const auto given = given_arguments();
    auto at = given.find(name);
    return at == given.end() ? fallback : at->second;
  }
  return guarded(fallback, [&] {
    std::string value = session_->argument(name).value_or(fallback);
    session_->used_argument(name, value);
    return value;
  });
}

}  // namespace flor::core
