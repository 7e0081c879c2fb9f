#include "core/resuming/requeued_run.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/base/messages.h"
#include "core/base/parse_number.h"
#include "core/base/valid_id.h"
#include "core/config/arguments.h"
#include "core/config/settings.h"
#include "core/files/existence.h"
#include "core/process/process.h"
#include "core/resuming/earlier_run.h"
#include "core/resuming/start_environment.h"

namespace flor::core {
namespace {

// A run of the same job, from before it was requeued.
struct Earlier {
  LaunchId launch;
  RunDir run;
  Manifest manifest;
  bool fits = false;  // its name, directory and arguments are those of this step
};

struct EarlierStarts {
  std::vector<Earlier> runs;  // the newest first
  // Those that recorded nothing before they were ended, and may have been this one.
  std::set<std::string> steps_begun;
  std::set<std::string> steps_shared;  // those in which several programs wanted to record
};

// Tells of a launch of an earlier version. These lie where anyone may put a file, so they are not trusted.
void tell_of_old_launches(const Store& store, const LaunchId& own) {
  const std::string job = own.job.substr(own.job.rfind('.') + 1);
  for (int64_t restart = own.restart; restart-- > 0;) {
    const fs::path old = store.path() / ".launches" / (job + "." + own.step + "." + std::to_string(restart));
    struct stat info = {};
    if (::lstat(old.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid())
      say("not resumed from " + old.string() +
          ", which an earlier version wrote; --flor-resume RUN resumes its run");
  }
}

// `.LAUNCH.begun`: spank/launch.h. `.LAUNCH.shared`: Store::mark_launch_shared().
std::optional<LaunchId> marked_launch(const std::string& name, const std::string& end) {
  if (name.size() <= end.size() + 1 || name.front() != '.' ||
      name.compare(name.size() - end.size(), end.size(), end) != 0)
    return std::nullopt;
  return launch_id_from(name.substr(1, name.size() - end.size() - 1));
}

std::string id_of(const LaunchId& id) {
  return id.job + "." + id.step + "." + std::to_string(id.restart);
}

// May the step that has this mark be this one? Its number may have been another then.
bool may_be_own(const Store& store, const LaunchId& begun, const LaunchId& own) {
  // Only a step of srun's has a mark.
  if (own.step == "batch") return false;
  const std::string then = store.program_begun(id_of(begun)), now = store.program_begun(id_of(own));
  return then.empty() || now.empty() || then == now;
}

std::optional<Earlier> earlier_from(const Store& store, const LaunchId& launch, const std::string& run_id) {
  try {
    Earlier out{launch, store.run(run_id), read_manifest(store.run(run_id)), false};
    out.fits = !why_another_step(out.manifest);
    return out;
  } catch (const std::exception&) {
    // The caller reads the manifest of its own step's run again, and says what is wrong with it.
    if (is_absent(store.run(run_id).path)) return std::nullopt;
    return Earlier{launch, store.run(run_id), {}, false};
  }
}

EarlierStarts earlier_starts(const Store& store, const LaunchId& own) {
  EarlierStarts out;
  std::set<std::string> taken;
  std::vector<std::pair<LaunchId, std::string>> found;
  std::set<std::string> recorded;
  for (const auto& name : store.launches()) {
    const auto is_earlier = [&own](const std::optional<LaunchId>& marked) {
      return marked && marked->job == own.job && marked->restart < own.restart;
    };
    const auto begun = marked_launch(name, ".begun");
    if (is_earlier(begun) && may_be_own(store, *begun, own)) out.steps_begun.insert(begun->step);
    if (const auto shared = marked_launch(name, ".shared"); is_earlier(shared))
      out.steps_shared.insert(shared->step);
    const auto launch = launch_id_from(name);
    if (!launch || launch->job != own.job || launch->restart > own.restart) continue;
    const std::string run = store.launched(name).value_or("");
    if (!is_valid_id(run)) continue;
    if (launch->restart == own.restart) taken.insert(run);
    found.emplace_back(*launch, run);
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::make_pair(-a.first.restart, a.first.step) < std::make_pair(-b.first.restart, b.first.step);
  });
  for (const auto& [launch, run] : found) {
    if (!taken.insert(run).second) continue;
    recorded.insert(launch.step);
    if (auto earlier = earlier_from(store, launch, run)) out.runs.push_back(std::move(*earlier));
  }
  for (const auto& step : recorded) out.steps_begun.erase(step);
  return out;
}

const Earlier* of_step(const EarlierStarts& starts, const std::string& step) {
  const auto at = std::find_if(starts.runs.begin(), starts.runs.end(),
                               [&](const Earlier& earlier) { return earlier.launch.step == step; });
  return at == starts.runs.end() ? nullptr : &*at;
}

// May the step that had this number have been another one, which differs in its environment alone?
bool has_twins(const EarlierStarts& starts, const Earlier& own) {
  if (!starts.steps_begun.empty() || starts.steps_shared.count(own.launch.step) > 0) return true;
  return std::any_of(starts.runs.begin(), starts.runs.end(), [&](const Earlier& other) {
    return other.fits && other.launch.step != own.launch.step &&
           other.manifest.start_environment != own.manifest.start_environment;
  });
}

// May another step of the job have asked for this run's name, too? `sbatch --flor-name` gives one name to all
// steps: the first gets it, and the runs of the others have none.
bool may_share_name(const EarlierStarts& starts) {
  return !starts.steps_begun.empty() || !starts.steps_shared.empty() ||
         std::any_of(starts.runs.begin(), starts.runs.end(),
                     [](const Earlier& other) { return other.fits && other.manifest.name.empty(); });
}

// Was the step shared, and is its run that of another program of it, which may go on with it?
bool is_of_another_program(const EarlierStarts& starts, const Earlier* same) {
  if (same == nullptr || starts.steps_shared.count(same->launch.step) == 0) return false;
  const Manifest& manifest = same->manifest;
  if (manifest.id.empty() || manifest.status == "completed" || manifest.status == "damaged") return false;
  return !same->fits || same->manifest.start_environment != start_environment();
}

// Returns the run of the name that is asked for, if this step recorded it.
std::optional<RunDir> of_same_name(const Store& store, const EarlierStarts& starts) {
  const auto name = environment_variable("FLOR_NAME");
  const auto job = environment_variable("SLURM_JOB_ID");
  if (!name || !job) return std::nullopt;
  try {
    auto run = store.labelled(*name);
    if (!run) return std::nullopt;
    const Manifest manifest = read_manifest(*run);
    if (manifest.name != *name || manifest.slurm_job != *job || manifest.status == "completed")
      return std::nullopt;
    if (why_another_step(manifest)) return std::nullopt;
    const std::string& then = manifest.start_environment;  // "": of an earlier version
    const bool is_ours = then.empty() || then == start_environment() || !may_share_name(starts);
    return is_ours ? run : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;  // no run of this user has the name
  }
}

}  // namespace

std::optional<LaunchId> launch_id_from(const std::string& id) {
  const auto last = id.rfind('.');
  if (last == std::string::npos || last == 0) return std::nullopt;
  const auto middle = id.rfind('.', last - 1);
  if (middle == std::string::npos || middle == 0) return std::nullopt;
  const auto restart = parse_number<int64_t>(id.substr(last + 1));
  if (!restart || *restart < 0) return std::nullopt;
  return LaunchId{id.substr(0, middle), id.substr(middle + 1, last - middle - 1), *restart};
}

std::optional<std::string> why_another_step(const Manifest& manifest) {
  const std::string name_now = environment_variable("FLOR_NAME").value_or("");
  if (!manifest.name.empty() && manifest.name != name_now) return "its name is " + manifest.name;
  std::error_code ignored;
  const bool is_elsewhere = manifest.cwd != start_directory() && fs::exists(start_directory(), ignored);
  if (!manifest.cwd.empty() && is_elsewhere) return "it was recorded in " + manifest.cwd;
  for (const auto& [name, value] : given_arguments()) {
    const auto recorded = manifest.args.find(name);
    if (recorded != manifest.args.end() && recorded->second != value)
      return "it was recorded with the argument " + name + "=" + recorded->second;
  }
  return why_other_arguments(manifest);
}

std::optional<RunDir> run_of_earlier_start(const Store& store, const std::string& launch) {
  const auto own = launch_id_from(launch);
  if (!own || own->restart == 0) return std::nullopt;
  const EarlierStarts starts = earlier_starts(store, *own);
  if (auto run = of_same_name(store, starts)) return run;
  const std::string environment = start_environment();
  const Earlier* same = of_step(starts, own->step);
  if (same != nullptr && same->fits) {
    const std::string& then = same->manifest.start_environment;  // "": of an earlier version
    if (then.empty() || then == environment || !has_twins(starts, *same)) return same->run;
  }
  for (const auto& other : starts.runs) {
    const bool is_ours =
        other.fits && !environment.empty() && other.manifest.start_environment == environment;
    if (is_ours && other.manifest.status != "completed") return other.run;
  }
  if (is_of_another_program(starts, same)) return std::nullopt;
  if (same == nullptr) {
    tell_of_old_launches(store, *own);
    return std::nullopt;
  }
  if (!same->fits) return same->run;  // the caller says why not
  say("run " + same->run.id() +
      " of this job is not resumed, a new one is recorded: several steps of the job differ in their "
      "environment alone, and it is not known which one recorded it; --flor-resume RUN resumes a run");
  return std::nullopt;
}

std::optional<RunDir> run_of_another_program(const Store& store, const std::string& launch) {
  const auto own = launch_id_from(launch);
  if (!own || own->restart == 0) return std::nullopt;
  const EarlierStarts starts = earlier_starts(store, *own);
  const Earlier* same = of_step(starts, own->step);
  return is_of_another_program(starts, same) ? std::optional(same->run) : std::nullopt;
}

}  // namespace flor::core
