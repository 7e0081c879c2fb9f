#include "core/resuming/earlier_run.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/messages.h"
#include "core/checkpoint/record_index.h"
#include "core/checkpoint/recorded_timeline.h"
#include "core/files/durable.h"
#include "core/files/existence.h"
#include "core/files/shared_directory.h"
#include "core/process/process.h"
#include "core/resuming/entry_generators.h"
#include "core/resuming/holes.h"
#include "core/resuming/patience.h"
#include "core/resuming/requeued_run.h"
#include "core/resuming/resumption.h"
#include "core/resuming/taken_launch.h"
#include "core/session/mismatch.h"
#include "core/sources/source_copies.h"
#include "core/sources/sources.h"
#include "core/store/copied_run.h"
#include "core/store/liveness.h"
#include "core/store/slurm_job.h"

namespace flor::core {
namespace {

// Returns "" where the file cannot be read.
std::string digest_of_file(const fs::path& path) {
  try {
    return digest_of(read_named_file(path));
  } catch (const std::exception&) {
    return "";
  }
}

std::optional<std::string> changed_source(const Manifest& manifest) {
  std::error_code ignored;
  std::map<std::string, std::string> present;
  for (const auto& source : scan_sources(fs::read_symlink("/proc/self/exe", ignored)).files) {
    present[source.path] = digest_of(source.text);
  }
  for (const auto& source : manifest.sources) {
    const auto at = present.find(source.path);
    const std::string digest = source.interpreted    ? digest_of_file(source.path)
                               : at != present.end() ? at->second
                                                     : "";
    if (digest != source.digest) return source.path;
  }
  return std::nullopt;
}

std::string text_of(const std::vector<std::string>& command) {
  std::string text;
  for (const auto& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Returns why the record cannot be read. A run that ended before its first loop has nothing to restore.
std::optional<std::string> why_unreadable(const RunDir& run, const Manifest& manifest) {
  try {
    end_at_holes(run, manifest);
    if (read_manifest_and_progress(run).main_loop() == nullptr) return std::nullopt;
    const RecordIndex index(run, GeneratorLog::none);
    GeneratorLog::verify(run.generators());
    return std::nullopt;
  } catch (const Error& damage) {
    return damage.what();
  }
}

// Returns why this process cannot resume the run: its program is another one, or the record is damaged.
std::optional<std::string> why_not_here(const RunDir& run, const Manifest& manifest) {
  if (auto why = why_not_resumable(run, manifest)) return why;
  if (auto why = why_other_arguments(manifest)) return why;
  if (const auto source = changed_source(manifest)) {
    return *source + " is not as it was recorded; build the recorded program again (its sources are in " +
           run.source().string() + "), or record a new run";
  }
  if (is_another_program(manifest)) {
    return "the program is not the one that was recorded, and not all of its sources are in the record; "
           "build the recorded program again, or record a new run";
  }
  return why_unreadable(run, manifest);
}

// As why_not_here(), where no one asked for this run: whatever is wrong with it, a new one can be recorded.
std::optional<std::string> why_not_resumed(const RunDir& run) {
  try {
    const Manifest manifest = read_manifest(run);
    if (auto why = why_another_step(manifest)) return why;
    return why_not_here(run, manifest);
  } catch (const std::system_error& problem) {
    if (may_pass(problem.code())) throw;
    return problem.what();
  } catch (const std::exception& problem) {
    return problem.what();
  }
}

void say_not_resumed(const RunDir& run, const std::string& why) {
  say("run " + run.id() + " of this job is not resumed, a new one is recorded: " + why);
}

}  // namespace

std::optional<std::string> why_other_arguments(const Manifest& manifest) {
  const auto present = command_line();
  const bool same =
      manifest.command.size() == present.size() &&
      (present.empty() || std::equal(present.begin() + 1, present.end(), manifest.command.begin() + 1));
  if (same) return std::nullopt;
  return "it was recorded with other arguments: " + text_of(manifest.command);
}

std::optional<std::string> why_not_resumable(const RunDir& run, const Manifest& manifest) {
  if (directory_owner(run.path) != ::geteuid()) return "it is another user's";
  if (manifest.status == "completed") return "it is complete";
  if (is_there(run.several()))
    return "it is that of one process of several that trained together, and the others would begin anew";
  if (manifest.status == "damaged") {
    return "its recording is damaged (" + (manifest.warnings.empty() ? "" : manifest.warnings.front()) +
           "), and what is missing would be missing for ever";
  }
  if (std::string why = why_not_ones_own(run); !why.empty()) return why;
  const Liveness liveness = liveness_of(run, state_of_job, true);
  if (liveness.life == Life::unknown) return how_to_unlock(run, liveness);
  if (liveness.life == Life::live) {
    return "process " + std::to_string(manifest.pid) + " on " + manifest.host + " is recording it";
  }
  return std::nullopt;
}

bool was_resumption_asked_for() {
  return environment_variable("FLOR_RESUME").has_value();
}

namespace {

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
  auto run = launch ? run_of_earlier_start(store, *launch) : std::nullopt;
  if (!run) return std::nullopt;
  const auto why = why_not_resumed(*run);
  if (!why) return run;
  say_not_resumed(*run, *why);
  return std::nullopt;
}

void disclaim_launch(const Settings& settings) noexcept {
  try {
    if (const auto launch = environment_variable("FLOR_LAUNCH"))
      Store(settings.store()).disclaim_launch(*launch);
  } catch (const std::exception&) {
    // Then srun warns about the launch, too.
  }
}

}  // namespace

namespace {

// Python's interpreter executes many programs: then the script or module counts.
std::string program_in(const std::vector<std::string>& command) {
  if (command.empty()) return "";
  std::string name = fs::path(command.front()).filename();
  if (name.rfind("python", 0) != 0) return name;
  for (std::size_t k = 1; k < command.size(); ++k) {
    if (command[k] == "-m" && k + 1 < command.size()) return command[k + 1];
    if (fs::path(command[k]).extension() == ".py") return fs::path(command[k]).filename();
  }
  return name;
}

// Is this process of another program than the run that the user asked for? Such a helper inherits the wish.
bool is_helper(const Settings& settings) {
  try {
    const RunDir run = Store(settings.store()).find(*environment_variable("FLOR_RESUME"));
    return program_in(read_manifest(run).command) != program_in(command_line());
  } catch (const std::exception&) {
    return false;
  }
}

// A checkpoint that no row names yet belongs to the run if its header says so. The next attempt leaves those
// behind that it could not read.
void wait_for_checkpoints(const RunDir& run, Patience& patience) {
  for (;;) {
    const auto refused = recorded_timeline_and_files(run).refused;
    if (refused.empty() || !patience.wait(refused.front())) return;
  }
}

}  // namespace

EarlierRun::EarlierRun(const Settings& settings) {
  try {
    Patience patience;
    run_ = patiently(patience, [&] { return run_to_resume(settings); });
    if (!run_) return;
    const Manifest manifest = patiently(patience, [&] {
      wait_for_checkpoints(*run_, patience);
      return read_manifest(*run_);
    });
    arguments_ = manifest.args;
    attempt_ = manifest.attempt + 1;
  } catch (const std::exception& problem) {
    if (!was_resumption_asked_for()) throw;
    impossible_ = problem.what();
    if (!is_helper(settings)) require_possible(settings);
  }
}

void EarlierRun::require_possible(const Settings& settings) const {
  if (impossible_.empty()) return;
  say("error: " + impossible_);
  disclaim_launch(settings);
  leave_process(1);
}

void EarlierRun::drop() {
  run_.reset();
  attempt_ = 0;
}

void EarlierRun::drop_if_gone_or_in_group() {
  if (!run_) return;
  if (was_resumption_asked_for()) {
    if (is_in_group()) Resumption::impossible(trains_with_others);
    return;
  }
  const bool is_gone = is_absent(run_->manifest());
  if (!is_gone && !is_in_group()) return;
  say_not_resumed(*run_, is_gone ? "it was removed meanwhile" : trains_with_others);
  drop();
}

void EarlierRun::drop_if_loop_is_another(const std::string& name, const LoopSpec& loop, Frontend& frontend) {
  if (!run_) return;
  // Minutes may have gone by since the run was found.
  Patience patience;
  const auto why = patiently(patience, [&]() -> std::optional<std::string> {
    const Manifest manifest = read_manifest_and_progress(*run_);
    const auto recorded = std::find_if(manifest.loops.begin(), manifest.loops.end(),
                                       [&](const RecordedLoop& one) { return one.name == name; });
    if (recorded == manifest.loops.end()) return std::nullopt;
    const std::string at = entry_of(name);
    const GeneratorLog log(run_->generators(), [&](std::string_view place) { return place == at; });
    const auto generators = log.at(at, "entry");
    return why_another(manifest, *recorded, generators ? &*generators : nullptr, loop, frontend);
  });
  if (!why) return;
  if (was_resumption_asked_for()) Resumption::impossible(*why);
  say_not_resumed(*run_, *why);
  drop();
}

}  // namespace flor::core
