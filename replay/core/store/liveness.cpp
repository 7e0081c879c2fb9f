#include "core/store/liveness.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>
#include <map>
#include <mutex>

#include "core/base/clock.h"
#include "core/files/shared_directory.h"
#include "core/files/shared_locks.h"
#include "core/store/manifest.h"

namespace flor::core {
namespace {

// Six heartbeats.
constexpr double live_s = 60;
// Longer than a file server's restart, or a partition of the network that heals.
constexpr double dead_s = 600;

// How long a file server's clock counts as known. Clocks do not drift apart in that time.
constexpr double known_s = 10;

// By directory, how far its server's clock is ahead of this process's steady clock. Thread-safe.
// Motivation: who lists thousands of other users' runs would else make and remove a file for each.
class ServerClocks {
 public:
  std::optional<double> now(const fs::path& directory) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = clocks_.find(directory);
    if (known == clocks_.end() || is_old(known->second)) return std::nullopt;
    return known->second.ahead + monotonic_seconds();
  }
  void learn(const fs::path& directory, double now) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto at = clocks_.begin(); at != clocks_.end();)
      at = is_old(at->second) ? clocks_.erase(at) : std::next(at);
    const double here = monotonic_seconds();
    clocks_[directory] = {now - here, here};
  }

 private:
  struct Clock {
    double ahead = 0, learnt = 0;
  };
  static bool is_old(const Clock& clock) { return monotonic_seconds() - clock.learnt > known_s; }

  mutable std::mutex mutex_;
  std::map<fs::path, Clock> clocks_;
};

std::string ago(double seconds) {
  return seconds < 120 ? std::to_string(static_cast<int64_t>(seconds)) + " s"
                       : std::to_string(static_cast<int64_t>(seconds / 60)) + " min";
}

std::optional<double> changed_at(int file) {
  struct stat info = {};
  if (::fstat(file, &info) != 0) return std::nullopt;
  return static_cast<double>(info.st_mtim.tv_sec) + 1e-9 * static_cast<double>(info.st_mtim.tv_nsec);
}

// Returns how long ago the heartbeat `beat` was. `beat` is a time of the file server, so asks the server for
// its present time. Compares with this node's clock if this user may write nowhere there.
Silence silence_since(const RunDir& run, double beat) {
  for (const auto& directory : {run.path.parent_path(), run.path}) {
    if (const auto now = server_time(directory)) return {*now - beat, true};
  }
  return {wall_seconds() - beat, false};
}

bool is_end_written(const RunDir& run) {
  try {
    return read_manifest(run).status != "recording";
  } catch (const std::exception&) {
    return false;
  }
}

void add_owner(Evidence& evidence, const RunDir& run, const FoundOwner& found, const AskJob& ask_job) {
  const Owner& owner = found.owner;
  const Owner here = this_process(run.path);
  evidence.ended = found.ended;
  evidence.host = owner.host;
  evidence.sees_locks = sees_locks_of(owner, here);
  const bool same_kernel = !owner.boot.empty() && owner.boot == here.boot;
  // A process that called execv() may go on with what its former program recorded. Its lock tells.
  const bool myself = owner.pid == here.pid && owner.start == here.start;
  if (same_kernel && owner.pids == here.pids && !myself) evidence.process = is_running(owner);
  evidence.restarted = !owner.boot.empty() && owner.boot != here.boot && owner.host == here.host;
  evidence.elsewhere = !owner.boot.empty() && !here.boot.empty() && owner.boot != here.boot;
  evidence.requeued = !owner.job.empty() && owner.job == here.job && owner.cluster == here.cluster &&
                      owner.restart < here.restart;
  evidence.shared_locks = owner.shared_locks && here.shared_locks;
  if (ask_job) evidence.job = [owner, ask_job] { return ask_job(owner); };
  evidence.silence = [run, beat = found.beat] { return silence_since(run, beat); };
}

Liveness judge(const RunDir& run, std::optional<bool> locked, const AskJob& ask_job, bool must_see) {
  Evidence evidence;
  evidence.locked = locked;
  try {
    if (const auto found = find_owner(run)) {
      evidence.has_owner = true;
      add_owner(evidence, run, *found, ask_job);
    }
  } catch (const std::exception&) {
    if (must_see) throw;
    evidence.has_owner = true;
    evidence.silence = [] { return Silence{dead_s, false}; };
  }
  Liveness out = decide(evidence);
  // The end is written before the owner file is emptied. The recorder ended between the two.
  if (out.life == Life::unknown && is_end_written(run)) return {Life::dead, "its end is written"};
  return out;
}

// Does Slurm say that the recorder's job is over? Of a job that it does not list any more, it says so only
// after a silence of `silence_s`: slurmctld may have been started without its state.
std::optional<Liveness> over_by_slurm(const Evidence& evidence, double silence_s) {
  if (evidence.requeued) return Liveness{Life::dead, "Slurm has started its job again"};
  const JobState job = evidence.job();
  if (job == JobState::over) return Liveness{Life::dead, "its Slurm job is over"};
  if (job == JobState::waiting) return Liveness{Life::dead, "its Slurm job waits to start again"};
  if (job == JobState::unlisted && evidence.silence().seconds >= silence_s)
    return Liveness{Life::dead, "Slurm does not list its job any more"};
  return std::nullopt;
}

// Decides by the last sign of life, where neither the lock nor the process can be seen from here.
Liveness decide_by_heartbeat(const Evidence& evidence) {
  const Silence silence = evidence.silence();
  const std::string since = "its last sign of life from node " +
                            (evidence.host.empty() ? "(unknown)" : evidence.host) + " is " +
                            ago(silence.seconds) + " old";
  if (silence.seconds < live_s) return {Life::live, since};
  if (evidence.restarted) return {Life::dead, "node " + evidence.host + " was booted since"};
  if (evidence.shared_locks && evidence.locked == false && silence.by_one_clock &&
      silence.seconds >= dead_s) {
    return {Life::dead, since + ", and no process on any node holds its lock"};
  }
  return {Life::unknown, since + ", and whether a process there holds its lock cannot be seen from here"};
}

}  // namespace

std::optional<double> server_time(const fs::path& directory) {
  static ServerClocks clocks;
  if (const auto now = clocks.now(directory)) return now;
  try {
    const fs::path path = directory / unguessable_name(".time.");
    const Descriptor file = create_new(AT_FDCWD, path);
    ::futimens(file.get(), nullptr);
    const auto now = changed_at(file.get());
    ::unlink(path.c_str());
    if (now) clocks.learn(directory, *now);
    return now;
  } catch (const std::exception&) {
    // A reader may not write there.
    return std::nullopt;
  }
}

Liveness decide(const Evidence& evidence) {
  if (evidence.ended) return {Life::dead, "its recording has ended"};
  if (evidence.process) {
    return *evidence.process ? Liveness{Life::live, "its process lives"}
                             : Liveness{Life::dead, "its process has ended"};
  }
  if (evidence.locked == true) {
    const auto over = evidence.elsewhere ? over_by_slurm(evidence, dead_s) : std::nullopt;
    return over.value_or(Liveness{Life::live, "a process holds its lock"});
  }
  if (evidence.locked == false && (evidence.sees_locks || !evidence.has_owner))
    return {Life::dead, "no process holds its lock"};
  if (!evidence.has_owner) return {Life::unknown, "its file system cannot tell who holds its lock"};
  if (const auto over = over_by_slurm(evidence, live_s)) return *over;
  return decide_by_heartbeat(evidence);
}

Liveness liveness_of(const RunDir& run, const AskJob& ask_job, bool must_see) {
  return judge(run, lock_held(run.lock()), ask_job, must_see);
}

Liveness liveness_while_locked(const RunDir& run, const AskJob& ask_job) {
  return judge(run, false, ask_job, false);
}

bool is_held_elsewhere(const RunDir& run, const std::string& host) {
  const Owner here = this_process(run.path);
  try {
    const auto found = find_owner(run);
    if (found && !found->owner.boot.empty()) return !here.boot.empty() && found->owner.boot != here.boot;
  } catch (const std::exception&) {
    // An owner file that cannot be read does not tell.
  }
  return !host.empty() && host != here.host;
}

std::string how_to_unlock(const RunDir& run, const Liveness& liveness) {
  return "it cannot be told whether it is still recorded: " + liveness.reason +
         "; make sure that it is over, then `flor unlock " + run.id() + "`";
}

}  // namespace flor::core
