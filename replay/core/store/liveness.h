// Is a run being recorded now? Its lock alone does not tell where locks are local to a node, or where the
// file system has none: then a run that is recorded on another node would look killed.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/store/owner.h"
#include "core/store/store.h"

namespace flor::core {

// What Slurm says of a job: it may run; it has ended; it waits to start again; or it is not listed, since it
// is forgotten some minutes after its end. A job of another controller that has the same name is not listed
// either.
enum class JobState { unknown, over, waiting, unlisted };

enum class Life { dead, live, unknown };
struct Liveness {
  Life life = Life::dead;
  std::string reason;  // for the user
};

// How long the recorder has given no sign of life.
struct Silence {
  double seconds = 0;
  bool by_one_clock = true;  // else this node's clock was compared with the file server's
};

// What is known of a run's recorder. The functions cost something, and are called only when all before them
// left it open.
struct Evidence {
  bool has_owner = false;
  bool ended = false;           // the owner file is empty
  std::string host;             // where it is recorded
  std::optional<bool> process;  // does it live? Nothing: it is on another kernel
  bool same_kernel = false;     // as this process: then its locks are seen here
  std::optional<bool> locked;   // nothing: the file system cannot tell
  bool requeued = false;        // this process belongs to a later start of the same Slurm job
  std::function<JobState()> job = [] { return JobState::unknown; };
  std::function<Silence()> silence = [] { return Silence{}; };
  bool restarted = false;     // its node was booted again
  bool shared_locks = false;  // as mounted there, and here
};
Liveness decide(const Evidence& evidence);

// Tells the state of the job that `owner` ran in.
using AskJob = std::function<JobState(const Owner& owner)>;

// Takes no lock that would keep a recorder from its own. Never throws for what lies in the run's directory.
Liveness liveness_of(const RunDir& run, const AskJob& ask_job = {});
// The same for who holds the run's lock.
Liveness liveness_while_locked(const RunDir& run, const AskJob& ask_job = {});

// The present time by the clock of the server that keeps the directory; nothing where this user may not write
// there.
std::optional<double> server_time(const fs::path& directory);

// For a run of which nothing can be told: why, and what to do.
std::string how_to_unlock(const RunDir& run, const Liveness& liveness);

}  // namespace flor::core
