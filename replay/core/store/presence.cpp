#include "core/store/presence.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/blocked_signals.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/messages.h"
#include "core/files/descriptor.h"
#include "core/files/durable.h"
#include "core/files/trusted_file.h"
#include "core/store/liveness.h"

namespace flor::core {
namespace {

constexpr std::size_t longest_text = 65536;  // bytes
// A node of the same name that gave a sign of life more recently is another node.
constexpr double booting_takes_s = 90;

// Returns std::nullopt for a lock that was released, or that no Presence wrote.
std::optional<Owner> owner_in(const fs::path& lock) {
  const std::string text = read_file(lock, longest_text);
  if (text.empty()) return std::nullopt;
  Owner owner = owner_from(parse_json(text));
  return owner.boot.empty() ? std::nullopt : std::optional(std::move(owner));
}

// Called where no process on this node is seen to hold the lock.
bool may_be_held_elsewhere(const fs::path& lock, std::optional<bool> held) {
  const auto owner = owner_in(lock);
  if (!owner) return false;
  const Owner here = this_process(lock.parent_path());
  const bool is_seen = sees_locks_of(*owner, here) || (owner->shared_locks && here.shared_locks);
  if (is_seen && held == false) return false;
  if (owner->boot == here.boot && owner->pids == here.pids) {
    if (const auto runs = is_running(*owner)) return *runs;
  }
  // On NFS, opening a file refreshes its attributes.
  const Descriptor file = open_regular(lock);
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0) return false;
  const double now = server_time(lock.parent_path()).value_or(wall_seconds());
  const double silent = now - static_cast<double>(info.st_mtime);
  // A worker that its rebooted node starts again does not wait for itself.
  if (owner->host == here.host && owner->boot != here.boot && silent > booting_takes_s) return false;
  return silent < static_cast<double>(Presence::silence_counts_as_end.count());
}

}  // namespace

class Presence::Beat {
 public:
  Beat(const fs::path& path, std::chrono::milliseconds every)
      : file_(open_regular_for(path, O_WRONLY)), every_(every), process_(::getpid()) {
    const std::string text = to_json(this_process(path.parent_path())).dump() + "\n";
    // Where the file cannot be written, the lock alone tells.
    if (::ftruncate(file_.get(), 0) == 0) step::write(file_.get(), text.data(), text.size(), 0);
    // So that other nodes see it at once.
    step::sync(file_.get());
    const BlockedSignals blocked;
    thread_ = std::thread([this] { work(); });
  }
  ~Beat() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
    [[maybe_unused]] const int error = ::ftruncate(file_.get(), 0);
  }
  Beat(const Beat&) = delete;
  Beat& operator=(const Beat&) = delete;
  // In a forked child, the thread is still the parent's.
  bool is_ours() const { return ::getpid() == process_; }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    // A null pointer for the times makes the file server take its own clock.
    while (!changed_.wait_for(lock, every_, [this] { return over_; })) ::futimens(file_.get(), nullptr);
  }

  Descriptor file_;
  std::chrono::milliseconds every_;
  pid_t process_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

Presence::Presence(FileLock lock, const fs::path& path, std::chrono::milliseconds every)
    : lock_(std::move(lock)), beat_(std::make_unique<Beat>(path, every)) {}

std::optional<Presence> Presence::try_take(const fs::path& path, std::chrono::milliseconds every) {
  auto lock = FileLock::try_take(path);
  // Where locks hold on one node only, a process of another node may have it too.
  if (!lock || may_be_held_elsewhere(path, false)) return std::nullopt;
  return Presence(std::move(*lock), path, every);
}

Presence Presence::take(const fs::path& path, std::chrono::milliseconds every) {
  FileLock lock = FileLock::take(path);
  bool is_said = false;
  while (may_be_held_elsewhere(path, false)) {
    if (!is_said) say("waiting for " + path.string() + ", which a process on another node has");
    is_said = true;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  return Presence(std::move(lock), path, every);
}

Presence::Presence(Presence&&) noexcept = default;
Presence& Presence::operator=(Presence&&) noexcept = default;

Presence::~Presence() {
  // In a forked child the thread can be neither joined nor destroyed.
  if (beat_ && !beat_->is_ours()) static_cast<void>(beat_.release());  // NOLINT(bugprone-unused-return-value)
}

std::optional<Owner> present_process(const fs::path& lock) {
  try {
    return owner_in(lock);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

bool may_be_present(const fs::path& lock) {
  const auto held = lock_held(lock);
  if (held == true) return true;
  try {
    return may_be_held_elsewhere(lock, held);
  } catch (const std::system_error& problem) {
    // A store that fails tells nothing.
    return problem.code() != std::errc::no_such_file_or_directory;
  } catch (const Error&) {
    // Not a file that a process of its owner could have locked.
    return false;
  } catch (const std::exception&) {
    return true;
  }
}

}  // namespace flor::core
