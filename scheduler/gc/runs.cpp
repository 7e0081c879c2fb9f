#include "gc/runs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/files/existence.h"
#include "core/files/shared_directory.h"
#include "core/store/liveness.h"
#include "core/store/manifest.h"
#include "core/store/presence.h"
#include "core/store/slurm_job.h"
#include "gc/acting_as.h"
#include "gc/local_tier.h"
#include "gc/remove_tree.h"
#include "gc/walk.h"
#include "results/report/summary.h"

namespace flor::gc {
namespace {

namespace fs = core::fs;

const char* const being_recorded = "it is being recorded";
const char* const being_replayed = "it is being replayed";
const char* const waited_for = "its Slurm job is not over, and may resume it";
const std::string job_unknown =
    "Slurm does not say whether its job is over, which may resume it; make sure that it is, then `flor "
    "unlock ";

// Returns the reason why this process cannot see all of the run; "" if it can.
// Motivation: a run whose manifest a failed file server hides looks like one that never began.
std::string hidden_part(const core::RunDir& run) {
  if (std::string closed = closed_below(run.path); !closed.empty()) return closed;
  if (core::existence_of(run.manifest())) return "";
  const int error = errno;
  return run.manifest().string() + " cannot be looked at (" + std::strerror(error) + ")";
}

// Returns the reason why the recording is not over; "" if it is.
std::string recorded_by(const core::RunDir& run, const core::Liveness& liveness) {
  switch (liveness.life) {
    case core::Life::live:
      return being_recorded;
    case core::Life::unknown:
      return core::how_to_unlock(run, liveness);
    case core::Life::dead:
      break;
  }
  switch (core::may_resume(run)) {
    case core::MayResume::possible:
      return waited_for;
    case core::MayResume::unknown:
      return job_unknown + run.id() + "`";
    case core::MayResume::none:
      break;
  }
  return "";
}

double seconds_of(const timespec& time) {
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Returns when the content of manifest or log last changed. A user can set this time of their own files.
double touched_at(const core::RunDir& run) {
  double last = 0;
  struct stat info = {};
  for (const auto& path : {run.manifest(), run.log()})
    if (::lstat(path.c_str(), &info) == 0) last = std::max(last, seconds_of(info.st_mtim));
  return last;
}

// Returns when manifest or log last changed in any way. Only the file server sets this time, so no user can
// make a run look younger than it is.
double written_at(const core::RunDir& run) {
  double last = 0;
  struct stat info = {};
  for (const auto& path : {run.manifest(), run.log()})
    if (::lstat(path.c_str(), &info) == 0) last = std::max(last, seconds_of(info.st_ctim));
  return last;
}

// Takes the run's part in this node's local tier; nullopt if there is none, or if the manifest, which names
// the place, cannot be read. `present`: where the run lies now. `run`: its place in the store.
std::optional<HeldTier> tier_of(const core::RunDir& present, const core::RunDir& run) {
  core::Manifest manifest;
  try {
    manifest = core::read_manifest(present);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return HeldTier::take(run, manifest);
}

// Removes what is left of a run with a hidden name. The local tier goes first: only the manifest names it, so
// a removal that is cut off could not find it later.
void remove_hidden(const core::Store& store, const std::string& id, const std::optional<HeldTier>& tier) {
  const fs::path hidden = store.removed(id);
  store.free_labels(id);
  if (tier) tier->remove();
  remove_tree(hidden);
}

// Returns the reason why a replay of the run may be going on, whose lock is not `but`; "" if there is none.
std::string replayed_by(const core::RunDir& run, const fs::path& but) {
  std::error_code error;
  const auto there = fs::symlink_status(run.replays(), error);
  if (there.type() == fs::file_type::none)
    return run.replays().string() + " cannot be looked at (" + error.message() + ")";
  if (there.type() != fs::file_type::directory) return "";  // a link is not followed
  bool is_held = false;
  const std::string closed = walk(run.replays(), [&](const Entry& entry) {
    is_held = is_held ||
              (entry.path.extension() == ".lock" && entry.path != but && core::may_be_present(entry.path));
  });
  return is_held ? being_replayed : closed;
}

// Takes the lock for planning; nullopt if the run was never replayed. Throws core::Error if another holds it.
std::optional<core::FileLock> take_planning(const core::RunDir& run) {
  std::error_code none;
  if (!core::is_there(run.replays()) || !fs::is_directory(run.replays(), none)) return std::nullopt;
  // Where locks hold on one node only, a planner on another node may hold it.
  const bool planned_elsewhere = core::may_be_present(planning_lock(run));
  auto lock = core::FileLock::try_take(planning_lock(run));
  if (!lock || planned_elsewhere)
    throw core::Error("run " + run.id() + " is left as it is: " + being_replayed);
  return lock;
}

}  // namespace

fs::path planning_lock(const core::RunDir& run) {
  return run.replays() / ".planning.lock";
}

std::string why_closed(const core::RunDir& run) {
  const ActingAs owner(run.path);
  return hidden_part(run);
}

std::string busy_with(const core::RunDir& run) {
  if (std::string hidden = hidden_part(run); !hidden.empty()) return hidden;
  if (std::string recorded = recorded_by(run, core::liveness_of(run, core::state_of_job)); !recorded.empty())
    return recorded;
  return replayed_by(run, {});
}

Claim claim(const core::RunDir& run) {
  if (const std::string hidden = hidden_part(run); !hidden.empty())
    throw core::Error("run " + run.id() + " is left as it is: " + hidden);
  auto lock = core::FileLock::try_take(run.lock());
  const std::string recorded =
      lock ? recorded_by(run, core::liveness_while_locked(run, core::state_of_job)) : being_recorded;
  if (!recorded.empty()) throw core::Error("run " + run.id() + " is left as it is: " + recorded);
  auto planning = take_planning(run);
  if (const std::string replayed = replayed_by(run, planning_lock(run)); !replayed.empty())
    throw core::Error("run " + run.id() + " is left as it is: " + replayed);
  return {std::move(*lock), std::move(planning)};
}

std::vector<core::RunDir> runs_of_ours(const core::Store& store) {
  std::vector<core::RunDir> out;
  std::error_code ignored;
  for (fs::directory_iterator at(store.path(), ignored), end; at != end; at.increment(ignored)) {
    const core::RunDir run{at->path()};
    if (!core::is_valid_id(run.id()) || core::directory_owner(run.path) == core::no_user ||
        !is_ours(run.path))
      continue;
    try {
      const ActingAs owner(run.path);
      if (!core::is_absent(run.manifest())) out.push_back(run);
    } catch (const core::Error&) {
      // The run has just gone.
    }
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return out;
}

std::uint64_t owner_of(const fs::path& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_uid : core::no_user;
}

bool is_ours(const fs::path& path) {
  const std::uint64_t owner = owner_of(path);
  return owner == ::geteuid() || (core::is_root() && owner != core::no_user);
}

RunFacts facts_of(const core::RunDir& run) {
  const ActingAs owner(run.path);
  RunFacts out;
  out.id = run.id();
  out.owner = owner_of(run.path);
  out.bytes = bytes_below(run.path);
  out.busy = busy_with(run);
  // A killed run records no end, so take the time of its last write.
  out.touched = touched_at(run);
  out.ended = sane_end(out.touched, written_at(run));
  try {
    const core::Manifest manifest = core::read_manifest(run);
    out.status = results::status_of(run, manifest);
    if (manifest.finished) out.ended = sane_end(*manifest.finished, written_at(run));
    out.beyond = beyond_reach(run, manifest);
  } catch (const std::exception&) {
    out.status = "unreadable";
  }
  return out;
}

void remove_run(const core::Store& store, const RunFacts& listed) {
  const core::RunDir run = store.run(listed.id);
  const ActingAs owner(run.path);
  std::optional<Claim> held(claim(run));
  if (touched_at(run) != listed.touched)
    throw core::Error("run " + run.id() + " is left as it is: it was recorded further meanwhile");
  const auto tier = tier_of(run, run);
  const fs::path hidden = store.removed(run.id());
  std::error_code error;
  fs::rename(run.path, hidden, error);
  if (error) throw std::system_error(error, "cannot remove " + run.path.string());
  core::sync_directory(store.path());
  // No one can find the run any more, so close the lock files. On NFS, removing an open file leaves a
  // .nfsXXXX, and its directory would stay.
  held.reset();
  remove_hidden(store, run.id(), tier);
}

void finish_removal(const core::Store& store, const std::string& id) {
  const ActingAs owner(store.removed(id));
  remove_hidden(store, id, tier_of({store.removed(id)}, store.run(id)));
}

}  // namespace flor::gc
