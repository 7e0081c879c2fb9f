#include "core/store/slurm_job.h"

#include <unistd.h>

#include <cctype>
#include <map>
#include <mutex>
#include <set>
#include <sstream>

#include "core/base/clock.h"
#include "core/config/settings.h"
#include "core/process/spawn.h"

namespace flor::core {
namespace {

constexpr double listing_holds_s = 10;

// Leaves out what of the user's names another cluster, or makes squeue leave jobs or columns out.
const std::string plain = "env $(env | sed -n 's/^\\(SQUEUE_[A-Z0-9_]*\\|SLURM_CLUSTERS\\)=.*/-u \\1/p') ";
// Lists all jobs, also those of hidden partitions.
const std::string squeue = "squeue --all --noheader --states=all --array --format='%A %T'";

std::string present_cluster() {
  static const std::string name = [] {
    const auto here = environment_variable("SLURM_CLUSTER_NAME");
    return here ? *here : config_value(ask_slurm("scontrol show config").value_or(""), "ClusterName");
  }();
  return name;
}

// The plugin writes names of clusters so (spank/cluster.h), Slurm as they are.
std::string as_in_ids(std::string cluster) {
  for (char& c : cluster)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '_';
  return cluster;
}

bool has_slurm() {
  return run_program({"/bin/sh", "-c", std::string(absolute_path) + "command -v squeue >/dev/null"}) == 0;
}

std::optional<std::string> jobs_of(uid_t user) {
  struct Listing {
    double taken = 0;
    std::optional<std::string> text;
  };
  static std::mutex mutex;
  static std::map<uid_t, Listing> listings;
  const std::lock_guard<std::mutex> lock(mutex);
  Listing& listing = listings[user];
  if (listing.taken == 0 || monotonic_seconds() - listing.taken > listing_holds_s) {
    listing.text = ask_slurm(squeue + " --users=" + std::to_string(user));
    listing.taken = monotonic_seconds();
  }
  return listing.text;
}

}  // namespace

const char* const absolute_path =
    "p=; IFS=:; set -f; for d in $PATH; do case $d in /*) p=$p:$d ;; esac; done; set +f; unset IFS; "
    "PATH=${p#:}; PATH=${PATH:-/usr/bin:/bin}; ";

// By SIGKILL: the thread that asks may block all other signals, and so does what it starts.
std::optional<std::string> ask_slurm(const std::string& command) {
  std::string out;
  const int code =
      run_program({"/bin/sh", "-c",
                   std::string(absolute_path) + "timeout -s KILL 10 " + plain + command + " 2>/dev/null"},
                  &out);
  return code == 0 ? std::optional(std::move(out)) : std::nullopt;
}

JobState state_in(const std::string& listing, const std::string& job) {
  // In Slurm's other states processes may still be there, or cannot be reached (NODE_FAIL).
  static const std::set<std::string> over{"COMPLETED",     "FAILED",   "CANCELLED", "TIMEOUT", "PREEMPTED",
                                          "OUT_OF_MEMORY", "DEADLINE", "BOOT_FAIL", "REVOKED"};
  static const std::set<std::string> waiting{"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED",
                                             "SPECIAL_EXIT"};
  std::istringstream lines(listing);
  for (std::string id, state; lines >> id >> state;) {
    if (id != job) continue;
    if (waiting.count(state) != 0) return JobState::waiting;
    return over.count(state) == 0 ? JobState::listed : JobState::over;
  }
  return JobState::unlisted;
}

std::string config_value(const std::string& config, const std::string& name) {
  std::istringstream lines(config);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    std::string equals;
    std::string value;
    if (words >> key >> equals >> value && key == name && equals == "=") return value;
  }
  return "";
}

JobState state_of_job(const Owner& owner) {
  if (owner.job.empty() || owner.cluster.empty() || owner.uid != static_cast<int64_t>(::geteuid()) ||
      as_in_ids(owner.cluster) != as_in_ids(present_cluster())) {
    return JobState::unknown;
  }
  const auto listing = jobs_of(::geteuid());
  return listing ? state_in(*listing, owner.job) : JobState::unknown;
}

MayResume may_resume(const RunDir& run) {
  std::optional<FoundOwner> found;
  try {
    found = find_owner(run);
  } catch (const std::exception&) {
    return MayResume::none;
  }
  if (!found || found->ended || found->owner.job.empty()) return MayResume::none;
  const JobState state = state_of_job(found->owner);
  if (state == JobState::waiting || state == JobState::listed) return MayResume::possible;
  if (state != JobState::unknown || !has_slurm()) return MayResume::none;
  const double now = server_time(run.path.parent_path()).value_or(wall_seconds());
  return now - found->beat > longest_job_s ? MayResume::none : MayResume::unknown;
}

}  // namespace flor::core
