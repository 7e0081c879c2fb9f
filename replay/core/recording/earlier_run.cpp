#include "core/recording/earlier_run.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/messages.h"
#include "core/base/process.h"
#include "core/checkpoint/record_index.h"
#include "core/config/arguments.h"
#include "core/files/durable.h"
#include "core/files/existence.h"
#include "core/files/shared_directory.h"
#include "core/session/mismatch.h"
#include "core/store/liveness.h"
#include "core/store/slurm_job.h"
#include "core/store/source_copies.h"
#include "core/store/sources.h"

namespace flor::core {
namespace {

std::optional<std::string> changed_source(const Manifest& manifest) {
  std::error_code ignored;
  std::map<std::string, std::string> present;
  for (const auto& source : scan_sources(fs::read_symlink("/proc/self/exe", ignored)).files) {
    present[source.path] = digest_of(source.text);
  }
  for (const auto& source : manifest.sources) {
    const auto at = present.find(source.path);
    if (at == present.end() || at->second != source.digest) return source.path;
  }
  return std::nullopt;
}

std::string text_of(const std::vector<std::string>& command) {
  std::string text;
  for (const auto& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

bool same_arguments(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return a.size() == b.size() && (a.empty() || std::equal(a.begin() + 1, a.end(), b.begin() + 1));
}

// Returns why the record cannot be read. A run that ended before its first loop has nothing to restore.
std::optional<std::string> why_unreadable(const RunDir& run) {
  try {
    if (read_manifest_and_progress(run).main_loop() != nullptr) RecordIndex index(run);
    return std::nullopt;
  } catch (const Error& damage) {
    return damage.what();
  }
}

// Returns why this process cannot resume the run: its program is another one, or the record is damaged.
std::optional<std::string> why_not_here(const RunDir& run, const Manifest& manifest) {
  if (auto why = why_not_resumable(run, manifest)) return why;
  if (!same_arguments(manifest.command, command_line()))
    return "it was recorded with other arguments: " + text_of(manifest.command);
  if (const auto source = changed_source(manifest)) {
    return *source + " is not as it was recorded; build the recorded program again (its sources are in " +
           run.source().string() + "), or record a new run";
  }
  if (is_another_program(manifest)) {
    return "the program is not the one that was recorded, and not all of its sources are in the record; "
           "build the recorded program again, or record a new run";
  }
  return why_unreadable(run);
}

// As why_not_here(), where no one asked for this run: whatever is wrong with it, a new one can be recorded.
std::optional<std::string> why_not_resumed(const RunDir& run) {
  try {
    const Manifest manifest = read_manifest(run);
    // Steps of one job can get each other's numbers when it starts again.
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
    return why_not_here(run, manifest);
  } catch (const std::exception& problem) {
    return problem.what();
  }
}

void say_not_resumed(const RunDir& run, const std::string& why) {
  say("run " + run.id() + " of this job is not resumed, a new one is recorded: " + why);
}

// Returns JOB.STEP.RESTART of CLUSTER.JOB.STEP.RESTART.
std::string without_cluster(const std::string& launch) {
  std::size_t begin = launch.size();
  for (int part = 0; part < 3 && begin != 0 && begin != std::string::npos; ++part)
    begin = launch.rfind('.', begin - 1);
  return begin == 0 || begin == std::string::npos ? launch : launch.substr(begin + 1);
}

// Tells of a launch of an earlier version. These lie where anyone may put a file, so they are not trusted.
void tell_of_old_launch(const Store& store, const std::string& launch) {
  const fs::path old = store.path() / ".launches" / without_cluster(launch);
  struct stat info = {};
  if (::lstat(old.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid())
    say("not resumed from " + old.string() +
        ", which an earlier version wrote; --flor-resume RUN resumes its run");
}

// Returns the run that this job recorded under the name that is asked for now, before it was requeued.
std::optional<RunDir> of_same_name(const Store& store) {
  const auto name = environment_variable("FLOR_NAME");
  const auto job = environment_variable("SLURM_JOB_ID");
  if (!name || !job) return std::nullopt;
  try {
    RunDir run = store.find(*name);
    const Manifest manifest = read_manifest(run);
    return manifest.name == *name && manifest.slurm_job == *job ? std::optional(std::move(run))
                                                                : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;  // no run has the name
  }
}

std::optional<RunDir> of_earlier_launch(const Store& store, const std::string& launch) {
  if (earlier_launches(launch).empty()) return std::nullopt;
  if (auto run = of_same_name(store)) return run;
  for (const auto& earlier : earlier_launches(launch)) {
    const std::string id = store.launched(earlier).value_or("");
    if (is_valid_id(id) && !is_absent(store.run(id).manifest())) return store.run(id);
    tell_of_old_launch(store, earlier);
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> earlier_launches(const std::string& launch) {
  const auto dot = launch.rfind('.');
  int64_t restart = 0;
  const char* end = launch.data() + launch.size();
  if (dot == std::string::npos || std::from_chars(launch.data() + dot + 1, end, restart).ptr != end)
    return {};
  std::vector<std::string> out;
  while (restart > 0) out.push_back(launch.substr(0, dot + 1) + std::to_string(--restart));
  return out;
}

std::optional<std::string> why_not_resumable(const RunDir& run, const Manifest& manifest) {
  if (directory_owner(run.path) != ::geteuid()) return "it is another user's";
  if (manifest.status == "completed") return "it is complete";
  if (manifest.status == "damaged") {
    return "its recording is damaged (" + (manifest.warnings.empty() ? "" : manifest.warnings.front()) +
           "), and what is missing would be missing for ever";
  }
  const Liveness liveness = liveness_of(run, state_of_job);
  if (liveness.life == Life::unknown) return how_to_unlock(run, liveness);
  if (liveness.life == Life::live) {
    return "process " + std::to_string(manifest.pid) + " on " + manifest.host + " is recording it";
  }
  return std::nullopt;
}

bool was_resumption_asked_for() {
  return environment_variable("FLOR_RESUME").has_value();
}

bool is_gone(const RunDir& run) {
  if (was_resumption_asked_for() || !is_absent(run.manifest())) return false;
  say_not_resumed(run, "it was removed meanwhile");
  return true;
}

bool is_loop_another(const RunDir& run, const std::string& name, const LoopSpec& loop) {
  if (was_resumption_asked_for()) return false;
  const Manifest manifest = read_manifest_and_progress(run);
  for (const auto& recorded : manifest.loops) {
    const auto why = recorded.name == name ? mismatch(recorded, loop) : std::nullopt;
    if (!why) continue;
    say_not_resumed(run, *why);
    return true;
  }
  return false;
}

std::optional<RunDir> run_to_resume(const Settings& settings) {
  const Store store(settings.store());
  const auto launch = environment_variable("FLOR_LAUNCH");
  // Another process of this launch has begun a run.
  if (launch && store.launched(*launch)) return std::nullopt;
  if (const auto asked = environment_variable("FLOR_RESUME")) {
    RunDir run = store.find(*asked);
    const auto why = why_not_here(run, read_manifest(run));
    if (why) throw UsageError("run " + run.id() + " cannot be resumed: " + *why);
    return run;
  }
  auto run = launch ? of_earlier_launch(store, *launch) : std::nullopt;
  if (!run) return std::nullopt;
  const auto why = why_not_resumed(*run);
  if (!why) return run;
  say_not_resumed(*run, *why);
  return std::nullopt;
}

namespace {

void disclaim_launch(const Settings& settings) noexcept {
  try {
    if (const auto launch = environment_variable("FLOR_LAUNCH"))
      Store(settings.store()).disclaim_launch(*launch);
  } catch (const std::exception&) {
    // Then srun warns about the launch, too.
  }
}

}  // namespace

std::optional<RunDir> run_to_resume_or_leave(const Settings& settings) {
  try {
    return run_to_resume(settings);
  } catch (const std::exception& problem) {
    if (!was_resumption_asked_for()) throw;
    say("error: " + std::string(problem.what()));
    disclaim_launch(settings);
    leave_process(1);
  }
}

}  // namespace flor::core
