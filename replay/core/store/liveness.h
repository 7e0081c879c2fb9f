// Decides whether a run is being recorded now. Its lock alone does not tell where locks are local to a node,
// or where the file system has none: a run recorded on another node would look killed.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/store/owner.h"
#include "core/store/store.h"

namespace flor::core {

// The state of a job by Slurm: unknown (it may run), listed (it runs, or its processes may still be there),
// over, waiting to start again, or unlisted. Slurm forgets a job some minutes after its end, and then does
// not list it. Nor does it list a job of another controller.
enum class JobState { unknown, listed, over, waiting, unlisted };

enum class Life { dead, live, unknown };
struct Liveness {
  Life life = Life::dead;
  // For the user.
  std::string reason;
};

// How long the recorder has given no sign of life, in seconds.
struct Silence {
  double seconds = 0;
  // False: this node's clock was compared with the file server's.
  bool by_one_clock = true;
};

// What is known of a run's recorder. The functions are expensive; decide() calls each only where everything
// before left the question open.
struct Evidence {
  bool has_owner = false;
  // The owner file is empty.
  bool ended = false;
  // The node that records.
  std::string host;
  // Does the recorder's process live? std::nullopt: it cannot be seen from here, or is this process itself.
  std::optional<bool> process;
  // The recorder's locks are seen here (owner.h, sees_locks_of).
  bool sees_locks = false;
  // std::nullopt: the file system cannot tell.
  std::optional<bool> locked;
  // The recorder ran under another kernel, so that from here only its lock can be seen.
  bool elsewhere = false;
  // This process belongs to a later start of the same Slurm job.
  bool requeued = false;
  std::function<JobState()> job = [] { return JobState::unknown; };
  std::function<Silence()> silence = [] { return Silence{}; };
  // The recorder's node has booted since.
  bool restarted = false;
  // Locks hold on all nodes, as mounted there and here.
  bool shared_locks = false;
};
// Judges the evidence, the surest first: the owner file, the process, the lock, the Slurm job, the silence.
// Only a lock that is held from elsewhere is less sure than Slurm's word: a process that hangs in its kernel
// keeps the lock when its job is over. Pure, except that it calls the functions in `evidence`.
Liveness decide(const Evidence& evidence);

// Returns the state of the job that `owner` ran in.
using AskJob = std::function<JobState(const Owner& owner)>;

// Decides whether a process records the run now: by its lock, its owner file and, if these leave it open, by
// Slurm and the last heartbeat. Holds the lock for a moment only, so that a recorder still gets it. If the
// owner file cannot be read, only a held lock or an end in the manifest decides. With `must_see` that throws
// std::system_error instead.
Liveness liveness_of(const RunDir& run, const AskJob& ask_job = {}, bool must_see = false);
// The same, for a caller that holds the run's lock.
Liveness liveness_while_locked(const RunDir& run, const AskJob& ask_job = {});

// Is the process that holds the run's lock, where one does, none of this machine? Then the run's next attempt
// may go on without the lock. `host`: the node that recorded it, for where the owner file is empty.
bool is_held_elsewhere(const RunDir& run, const std::string& host);

// Returns the time, in seconds since 1970, by the clock of the server that keeps the directory. Writes a
// temporary file there, at most one in ten seconds. Returns std::nullopt where this user may not write there.
// Thread-safe.
std::optional<double> server_time(const fs::path& directory);

// Returns one line for Life::unknown: why it is unknown, and what to do.
std::string how_to_unlock(const RunDir& run, const Liveness& liveness);

}  // namespace flor::core
