#include "spooler.h"

#include <sys/resource.h>

#include <chrono>
#include <exception>
#include <optional>
#include <sstream>
#include <system_error>

#include "core/base/blocked_signals.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/units_text.h"
#include "core/files/durable.h"
#include "core/tier/spool.h"
#include "log.h"

namespace flor::agent {
namespace {

namespace fs = core::fs;

constexpr std::size_t most_roots = 64;
constexpr int low_priority = 10;  // training goes first
// Pauses between two rounds: while recordings live, while some files could not be brought, and otherwise.
constexpr std::chrono::seconds live_pause{1};
constexpr std::chrono::seconds backlog_pause{5};
constexpr std::chrono::seconds idle_pause{30};

}  // namespace

Spooler::Spooler(Options options) : options_(std::move(options)) {
  load();
  if (!options_.tier.empty()) roots_.insert(core::local_root(options_.tier));
  const core::BlockedSignals blocked;
  thread_ = std::thread([this] { work(); });
}

Spooler::~Spooler() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Spooler::load() {
  try {
    if (!fs::exists(options_.known)) return;
    std::istringstream lines(core::read_file(options_.known));
    for (std::string line; std::getline(lines, line) && kept_.size() < most_roots;) {
      if (fs::path(line).is_absolute()) kept_.insert(line);
    }
    roots_ = kept_;
  } catch (const std::exception& problem) {
    log_line(std::string("the local tiers of earlier agents are not known: ") + problem.what());
  }
}

void Spooler::keep(const std::set<fs::path>& roots) const {
  try {
    std::string lines;
    for (const auto& root : roots) lines += root.string() + "\n";
    core::write_durably(options_.known, lines);
  } catch (const std::exception& problem) {
    log_line(std::string("the next agent will not know the local tiers: ") + problem.what());
  }
}

void Spooler::watch(const fs::path& local, const fs::path& home) {
  const core::LocalRun run = core::open_local_run(local);
  if (run.home.path != home) {
    throw core::Error(run.info().string() + " names " + run.home.path.string() +
                      " as the run's place in the store, not " + home.string());
  }
  std::set<fs::path> known;
  {
    const std::lock_guard lock(mutex_);
    roots_.insert(local.parent_path());
    if (kept_.insert(local.parent_path()).second) known = kept_;
    ++watched_;
  }
  if (!known.empty()) keep(known);
  wake();
}

void Spooler::unwatch() {
  {
    const std::lock_guard lock(mutex_);
    --watched_;
  }
  wake();
}

void Spooler::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_all();
}

bool Spooler::busy() const {
  const std::lock_guard lock(mutex_);
  return woken_ || working_ || backlog_;
}

void Spooler::work() noexcept {
  // On Linux this changes the calling thread only. If it is refused, spool all the same.
  [[maybe_unused]] const int refused = ::setpriority(PRIO_PROCESS, 0, low_priority);
  std::unique_lock lock(mutex_);
  while (!stop_) {
    woken_ = false;
    working_ = true;
    lock.unlock();
    try {
      round();
    } catch (const std::exception& problem) {
      log_line(std::string("spooling: ") + problem.what());
    }
    lock.lock();
    working_ = false;
    const auto pause = live_ || watched_ > 0 ? live_pause : backlog_ ? backlog_pause : idle_pause;
    changed_.wait_for(lock, pause, [this] { return stop_ || woken_; });
  }
}

void Spooler::round() {
  std::set<fs::path> roots;
  {
    const std::lock_guard lock(mutex_);
    roots = roots_;
    backlog_ = live_ = false;
  }
  for (const auto& root : roots) {
    try {
      for (const auto& directory : core::local_runs(root)) look_at(directory);
      said_.erase(root);
    } catch (const std::exception& problem) {
      say_once(root, problem.what());
    }
  }
}

void Spooler::look_at(const fs::path& directory) {
  try {
    const core::LocalRun local = core::open_local_run(directory);
    if (!local.has_home()) {
      say_once(directory, "there is no " + local.home.manifest().string() +
                              ": what lies there is left alone; if the run was removed, remove it too");
      return;
    }
    bring(local);
  } catch (const std::exception& problem) {
    // Say nothing if another spooler has removed it just now.
    std::error_code ignored;
    if (fs::exists(directory, ignored)) say_once(directory, problem.what());
  }
}

void Spooler::bring(const core::LocalRun& local) {
  // Ask before the files are listed: if the recording is over by now, no file is added later.
  const bool live = local.home.is_being_recorded();
  const bool waits = room_waits_.waits(local.path, live, core::monotonic_seconds());
  const auto lock = core::FileLock::try_take(local.lock());
  if (lock && !waits) spool(local, live);
  bool left = !core::waiting_files(local).empty();
  if (!left && !live && lock) left = core::remove_local_run(local) == core::Removal::being_written;
  const std::lock_guard guard(mutex_);
  backlog_ = backlog_ || (left && !live);
  live_ = live_ || live;
}

void Spooler::spool(const core::LocalRun& local, bool live) {
  core::SpoolOptions options;
  options.leave_room = live;
  options.was_full = room_waits_.was_full(local.path);
  const core::Spooled done = core::spool(
      local, [&](std::uint64_t bytes) { return pace(bytes, local.rate); }, options);
  if (!done.full || done.files > 0) room_waits_.found_room(local.path);
  if (done.full) room_waits_.found_full(local.path, live, core::monotonic_seconds());
  if (done.files > 0) {
    log_line("brought " + std::to_string(done.files) + " files (" + core::bytes_text(done.bytes) +
             ") of run " + local.home.id() + " to the store");
  }
  if (done.troubles.empty()) {
    said_.erase(local.path);
  } else {
    say_once(local.path, std::to_string(core::waiting_files(local).size()) +
                             " files stay there for now: " + done.troubles.front());
  }
}

bool Spooler::pace(std::uint64_t bytes, std::uint64_t rate) {
  const std::chrono::duration<double> wait(pacer_.wait_after(bytes, rate, core::monotonic_seconds()));
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, wait, [this] { return stop_; });
}

void Spooler::say_once(const fs::path& about, const std::string& text) {
  auto& said = said_[about];
  if (said == text) return;
  said = text;
  log_line(about.string() + ": " + text);
}

}  // namespace flor::agent
