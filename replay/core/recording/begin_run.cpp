#include "core/recording/begin_run.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/full.h"
#include "core/base/messages.h"
#include "core/base/parse_number.h"
#include "core/base/units_text.h"
#include "core/config/arguments.h"
#include "core/config/inherited.h"
#include "core/config/setting_value.h"
#include "core/config/values.h"
#include "core/files/descriptor.h"
#include "core/files/durable.h"
#include "core/files/existence.h"
#include "core/process/above_streams.h"
#include "core/process/process.h"
#include "core/process/user_name.h"
#include "core/recording/policy_settings.h"
#include "core/resuming/earlier_run.h"
#include "core/resuming/patience.h"
#include "core/resuming/requeued_run.h"
#include "core/resuming/start_environment.h"
#include "core/resuming/taken_launch.h"
#include "core/sources/source_copies.h"
#include "core/sources/sources.h"
#include "core/store/liveness.h"
#include "core/store/scope.h"
#include "core/tier/room.h"

namespace flor::core {
namespace {

constexpr std::size_t reserved_bytes = std::size_t{256} << 10;
// How long a process that counts as dead may take to let go of its lock.
constexpr double lock_patience_s = 5;

fs::path reserve_of(const RunDir& run) {
  return run.path / ".reserve";
}

std::string launch_id() {
  if (auto given = environment_variable("FLOR_LAUNCH")) return *given;
  // Through the environment, the children of this process belong to the same launch.
  std::string id = new_id("local-");
  ::setenv("FLOR_LAUNCH", id.c_str(), 1);
  return id;
}

void record_sources(const RunDir& run, Frontend& frontend, Manifest& manifest) {
  SourceScan scan = scan_sources(manifest.binary);
  add_sources(frontend.sources(), scan);
  std::error_code ignored;
  // On some file systems the file of a program that runs can be replaced. What it was built from is
  // elsewhere.
  if (!fs::equivalent(running_program, manifest.binary, ignored))
    scan.unresolved.push_back(manifest.binary + " is not the program that runs any more");
  copy_sources(scan, run, manifest);
  if (scan.withheld.empty()) return;
  std::string names;
  for (const auto& path : scan.withheld) names += (names.empty() ? "" : ", ") + path;
  warn("not copied into the record, since other users can write there: " + names +
       "; a replay of an edited program will execute every block");
}

// Sets who records: the process of the present attempt.
void set_attempt(Manifest& m) {
  m.command = command_line();
  m.cwd = start_directory();
  m.host = node_name();
  m.user = user_name(::getuid());
  m.pid = ::getpid();
  m.slurm_job = environment_variable("SLURM_JOB_ID").value_or("");
  m.slurm_step = environment_variable("SLURM_STEP_ID").value_or("");
  m.slurm_array = slurm_variable("SLURM_ARRAY_JOB_ID").value_or("");
  m.slurm_task = parse_number<int64_t>(slurm_variable("SLURM_ARRAY_TASK_ID").value_or("")).value_or(0);
  m.start_environment = start_environment();
  std::error_code ignored;
  m.binary = fs::read_symlink("/proc/self/exe", ignored).string();
}

Manifest first_manifest(const Settings& settings, Frontend& frontend, const std::string& id) {
  Manifest m;
  m.id = id;
  set_attempt(m);
  set_policy(settings, m, false);
  m.started = wall_seconds();
  m.environment = frontend.environment();
  m.preset = frontend.preset();
  m.args = given_arguments();
  return m;
}

Manifest next_manifest(const Settings& settings, const RunDir& run) {
  Manifest m = read_manifest_and_progress(run);
  set_attempt(m);
  set_policy(settings, m, true);
  m.attempt += 1;
  m.status = "recording";
  m.exit_code.reset();
  m.finished.reset();
  return m;
}

std::uint64_t spool_rate(const Settings& settings) {
  const auto rate = setting_value(settings.get("spool_rate"), "spool_rate", parse_bytes);
  return rate.value_or(0);
}

// Opens the local tier. A tier that cannot be used gives a warning, and recording goes on without. `before`
// is the manifest of an earlier attempt.
std::optional<LocalRun> begin_local(const Settings& settings, const RunDir& run, const Manifest& before) {
  const auto given = setting_value(settings.get("local"), "local", [](const std::string& path) {
    return setting_form("local").fits(path) ? std::optional(path) : std::nullopt;
  });
  const auto tier = given ? settings.local() : std::nullopt;
  if (!tier) return std::nullopt;
  try {
    std::error_code ignored;
    const fs::path there = before.local;
    if (!there.empty() && there == local_root(*tier) / run.id() && fs::exists(there, ignored)) {
      LocalRun local = open_local_run(there);
      if (!is_same_run(local.home, run))
        throw Error(there.string() + " is that of " + local.home.path.string() +
                    ", of which this run is a copy");
      return local;
    }
    return create_local_run(*tier, run, spool_rate(settings));
  } catch (const std::exception& problem) {
    warn(std::string("checkpoints go straight to the store: ") + problem.what());
    return std::nullopt;
  }
}

// A new run directory. The destructor removes it unless the run begins, since nothing else would.
class DraftRun {
 public:
  explicit DraftRun(const Store& store) : store_(store), run_(create(store)) {}
  ~DraftRun() {
    if (begun_) return;
    try {
      store_.free_labels(run_.id());
    } catch (const std::exception&) {
      // A label may then name no run. It stays taken; no other harm is done.
    }
    // NFS keeps a directory with open files.
    lock_.reset();
    std::error_code ignored;
    fs::remove_all(run_.path, ignored);
  }
  DraftRun(const DraftRun&) = delete;
  DraftRun& operator=(const DraftRun&) = delete;

  const RunDir& run() const { return run_; }
  void lock() {
    sync_directory(store_.path());
    lock_.emplace(FileLock::create(run_.lock()));
  }
  FileLock begun() {
    begun_ = true;
    return std::move(*lock_);
  }

 private:
  static RunDir create(const Store& store) {
    while (true) {
      RunDir run = store.run(new_id());
      if (fs::create_directory(run.path)) return run;
    }
  }

  const Store& store_;
  const RunDir run_;
  std::optional<FileLock> lock_;
  bool begun_ = false;
};

// Notes which job records the run, and of which array it is a task, each with its cluster. The plugin asks
// the run of a name for that (spank/store.cpp): steps of one job and tasks of one array may be given one
// name.
void note_jobs(const RunDir& run) {
  const auto launch = launch_id_from(launch_id());
  if (!launch) return;  // not Slurm's
  std::string text = launch->job + "\n";
  const auto array = parse_number<int64_t>(slurm_variable("SLURM_ARRAY_JOB_ID").value_or(""));
  if (array) text += launch->job.substr(0, launch->job.rfind('.') + 1) + std::to_string(*array) + "\n";
  write_durably(run.jobs(), text);
}

void name_run(const Settings& settings, const Store& store, Manifest& manifest) {
  const auto name = setting_value(settings.get("name"), "name", name_from);
  if (!name) return;
  // First: whoever sees the label looks there.
  note_jobs(store.run(manifest.id));
  if (store.claim_label(*name, manifest.id)) {
    manifest.name = *name;
  } else {
    warn("the name '" + *name + "' is taken by another run; this one goes by its id " + manifest.id);
  }
}

std::optional<BegunRun> begin_new(const Settings& settings, const Store& store, Frontend& frontend) {
  const std::string launch = launch_id();
  std::error_code unreadable;
  if (fs::exists(store.launch(launch), unreadable)) {
    leave_to_recorder(store, launch);
    return std::nullopt;
  }
  if (const auto others = run_of_another_program(store, launch)) wait_for_its_program(store, launch, *others);
  DraftRun draft(store);
  draft.lock();
  const RunDir& run = draft.run();
  // Claims the launch only after the directory is created. Before that the id may belong to another run, and
  // a requeued job would resume that run.
  if (!store.claim_launch(launch, run.id())) {
    leave_to_recorder(store, launch);
    return std::nullopt;
  }
  OwnerFile owner = OwnerFile::create(run, 0);
  Manifest manifest = first_manifest(settings, frontend, run.id());
  name_run(settings, store, manifest);
  record_sources(run, frontend, manifest);
  if (is_one_of_several()) mark_several(run);
  reserve_space(run);
  write_manifest(run, manifest);
  return BegunRun{run, std::move(manifest), draft.begun(), std::nullopt, std::move(owner)};
}

// Warns that a resumed run keeps its name, where the user gave another one. Not for a requeued job: it only
// repeats the name of its first start.
void tell_of_unused_name(const Manifest& manifest) {
  const auto name = Settings::asked("name");
  if (!name || *name == manifest.name || !was_resumption_asked_for()) return;
  const std::string stays =
      manifest.name.empty() ? "goes by its id " + manifest.id : "keeps its name '" + manifest.name + "'";
  warn("the name '" + *name + "' is not used: the resumed run " + stays);
}

// Where the earlier attempt has filled the disk, takes the space that it had set aside.
void write_next_manifest(const RunDir& run, const Manifest& manifest) {
  try {
    std::error_code absent;
    // An attempt whose disk was full has emptied it.
    if (fs::file_size(reserve_of(run), absent) < reserved_bytes || absent) reserve_space(run);
    write_manifest(run, manifest);
  } catch (const std::exception& problem) {
    write_last_manifest(run, manifest);
    warn(std::string("no space is set aside for the record's end: ") + problem.what());
  }
}

// Takes the run's lock. Waits for a process of the earlier attempt that counts as dead, and may still be on
// its way out. Returns std::nullopt where that keeps the lock, as one does that hangs in its node's kernel
// while Slurm has started its job again elsewhere.
std::optional<FileLock> wait_for_lock(const RunDir& run, const Manifest& earlier) {
  const double until = monotonic_seconds() + lock_patience_s;
  while (true) {
    if (auto lock = FileLock::try_take(run.lock())) return lock;
    if (monotonic_seconds() >= until) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  if (!is_held_elsewhere(run, earlier.host)) throw Error("another process records run " + run.id());
  say("a process on " + earlier.host + " still holds the lock of run " + run.id() +
      ", though its attempt is over; going on without waiting for it");
  return std::nullopt;
}

std::optional<BegunRun> go_on(const Settings& settings, const Store& store, const EarlierAttempt& earlier) {
  const RunDir& run = earlier.run;
  const std::string launch = launch_id();
  if (!store.claim_launch(launch, run.id())) {
    say("not recorded, and training begins anew: another process of this launch (" + launch +
        ") records run " + store.launched(launch).value_or("?"));
    return std::nullopt;
  }
  // Another process may have gone on with the run since this one began, minutes ago; and where locks do not
  // hold on all nodes, the lock does not tell.
  Patience patience;
  const Manifest before = patiently(patience, [&run] { return read_manifest(run); });
  if (const auto why = patiently(patience, [&] { return why_not_resumable(run, before); }))
    throw Error("run " + run.id() + " cannot be resumed any more: " + *why);
  auto lock = wait_for_lock(run, before);
  Manifest manifest = patiently(patience, [&] { return next_manifest(settings, run); });
  if (manifest.attempt != earlier.attempt + 1)
    throw Error("another process has resumed run " + run.id() + " meanwhile");
  tell_of_unused_name(manifest);
  OwnerFile owner = OwnerFile::create(run, manifest.attempt);
  // Only now: of several attempts without the lock the owner file lets one begin.
  if (!lock) lock = FileLock::replace(run.lock());
  write_next_manifest(run, manifest);
  return BegunRun{run, std::move(manifest), std::move(*lock), std::nullopt, std::move(owner)};
}

}  // namespace

std::optional<BegunRun> begin_run(const Settings& settings, Frontend& frontend,
                                  const std::optional<EarlierAttempt>& earlier) {
  const Store store(settings.store());
  store.require_writable();
  auto begun = earlier ? go_on(settings, store, *earlier) : begin_new(settings, store, frontend);
  if (!begun) return std::nullopt;
  // After the manifest: for an agent, a run without a manifest was removed.
  begun->local = begin_local(settings, begun->run, begun->manifest);
  begun->manifest.local = begun->local ? begun->local->path.string() : "";
  if (begun->local) write_manifest(begun->run, begun->manifest);
  return begun;
}

void reserve_space(const RunDir& run) {
  write_durably(reserve_of(run), std::string(reserved_bytes, '\n'));
}

void release_space(const RunDir& run) {
  constexpr int flags = O_WRONLY | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const Descriptor emptied(above_streams(::openat(AT_FDCWD, reserve_of(run).c_str(), flags)));
}

void write_last_manifest(const RunDir& run, const Manifest& manifest) {
  release_space(run);
  try {
    write_manifest(run, manifest);
  } catch (const std::system_error& problem) {
    if (!is_full(problem.code().value()) || is_absent(reserve_of(run))) throw;
    write_manifest_into(reserve_of(run), run, manifest);
  }
  ::unlinkat(AT_FDCWD, reserve_of(run).c_str(), 0);
}

}  // namespace flor::core
