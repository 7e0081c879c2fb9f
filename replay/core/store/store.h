// The paths and file names of a store and its run directories, and how a run is found by its id or label.
// Layout: docs/formats.md, "The store".
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/valid_id.h"
#include "core/files/file_lock.h"

namespace flor::core {

namespace fs = std::filesystem;

// Returns `prefix` and YYYYMMDD-HHMMSS-xxxxxxxxxxxxxxxx: the time in UTC and 64 random bits.
std::string new_id(const std::string& prefix = "");

// Throws UsageError where `id` is no valid id. `what` names its kind, as "run id".
void require_id(const char* what, const std::string& id);

// The directory of one replay, and the paths in it. Creates nothing.
struct ReplayDir {
  fs::path path;

  std::string id() const { return path.filename().string(); }
  fs::path plan() const { return path / "plan.json"; }
  fs::path units() const { return path / "units"; }
  fs::path unit(int64_t id) const;
  // The rows of another execution of that unit, which differ in more than volatile rows. `digest`: of the
  // others.
  fs::path again(int64_t id, const std::string& digest) const;
  // Returns all of these files that are there, by their unit. A name that is none of them does not count.
  // Throws std::filesystem::filesystem_error where they cannot be listed.
  std::multimap<int64_t, fs::path> all_again() const;
  fs::path proofs() const { return path / "proofs"; }
  // Which units a proof slot executes.
  fs::path proof(int64_t id) const;
  // The rows of that proof unit.
  fs::path proof_rows(int64_t id) const;
  fs::path log() const { return path / "log.jsonl"; }
  fs::path verdict() const { return path / "verdict.json"; }
  fs::path failure() const { return path / "failure.json"; }
  fs::path incarnation() const { return path / "incarnation"; }
  fs::path timeline() const { return path / "timeline.jsonl"; }
  fs::path workers() const { return path / "workers"; }
  // How the executions of a unit ended that the record does not know (docs/formats.md).
  fs::path ending(int64_t unit) const;
};

// The directory of one run, and the paths in it. Creates nothing.
struct RunDir {
  fs::path path;

  std::string id() const { return path.filename().string(); }
  fs::path manifest() const { return path / "run.json"; }
  fs::path lock() const { return path / "run.lock"; }
  fs::path source() const { return path / "source"; }
  fs::path checkpoints() const { return path / "checkpoints"; }
  // Returns a checkpoint's path relative to the run directory, as checkpoints name each other. A later
  // attempt of a recording gives its files other names: those of an earlier attempt may still wait in a
  // node's local tier. A long name is cut and ends in its digest.
  static fs::path checkpoint_file(const std::string& block, const std::string& stem, int64_t attempt = 0);
  static int64_t attempt_of(const std::string& checkpoint_file);
  fs::path timeline() const { return path / "timeline.jsonl"; }
  fs::path log() const { return path / "log.jsonl"; }
  fs::path generators() const { return path / "generators.jsonl"; }
  // Event files of TensorBoard, where the user wanted them (FLOR_TENSORBOARD): of the rows that were
  // recorded, and of those that replays added.
  fs::path events() const { return path / "tensorboard"; }
  fs::path replayed_events() const { return path / "tensorboard.replayed"; }
  // A mark: several processes trained together, and this run is that of one of them.
  fs::path several() const { return path / "several"; }
  // Of a run that was given a name in Slurm: which job recorded it first, and of which array it was a task.
  fs::path jobs() const { return path / "jobs"; }
  fs::path replays() const { return path / "replays"; }
  // Throws UsageError where `id` is not a valid id.
  ReplayDir replay(const std::string& id) const;
  // Those with a plan, oldest first. Leaves out links and those that are closed to this user. One whose plan
  // a failed file server hides is there, so that who reads it learns of it. Throws std::system_error where
  // the directory cannot be read.
  std::vector<ReplayDir> all_replays() const;

  // Is it known that a process records the run now? core/store/liveness.h tells more.
  bool is_being_recorded() const;
};

// One store directory, and who may use the names in it. Holds only its path; thread-safe.
class Store {
 public:
  explicit Store(fs::path path) : path_(std::move(path)) {}
  const fs::path& path() const { return path_; }

  // Creates the last component if missing, and proves that a file can be written and synced there. Makes this
  // user's directories of labels and launches. Throws UsageError: one line that says what is wrong and what
  // to do.
  void require_writable() const;

  // Finds a run, in this order: by id, if it is this user's; by this user's label; by id; by a prefix of its
  // id that is unique among this user's runs, or else among all. Throws UsageError where it is unknown or
  // ambiguous; the message names the store and `flor runs`.
  RunDir find(const std::string& id_or_label) const;
  // The same, for callers that write into the run or start a program of it. Also throws UsageError where the
  // run is another user's. Before the first write into it ask why_not_ones_own(), too
  // (core/store/copied_run.h).
  RunDir find_own(const std::string& id_or_label) const;

  // Throws UsageError where `id` is not a valid id.
  RunDir run(const std::string& id) const;
  // Is there a directory of this id, and no link, that has a manifest?
  bool has_run(const std::string& id) const;
  // All of these, in the order of their ids, so oldest first. One whose manifest a failed file server hides
  // is there, so that who reads it learns of it. Throws std::system_error where the store cannot be read.
  std::vector<RunDir> runs() const;

  // .names/UID/LABEL of this user.
  fs::path label(const std::string& label) const;
  // .launches/UID/ID of this user.
  fs::path launch(const std::string& id) const;

  // Returns the run of a label; std::nullopt where the label names none. Throws UsageError where that run is
  // another user's; Error where the user's directory of labels cannot be trusted (shared_directory.h).
  std::optional<RunDir> labelled(const std::string& label) const;
  // Returns the id that the label names, whether or not that run exists; empty where the label is free.
  std::string label_target(const std::string& label) const;
  // Returns the id of the run that a launch recorded, from its file; std::nullopt where it recorded none.
  // Throws Error where the user's directory of launches cannot be trusted, and std::system_error where the
  // file cannot be looked at.
  std::optional<std::string> launched(const std::string& id) const;

  // Returns the names in this user's directory of launches: of launches, and of the marks beside them
  // (spank/launch.h). Throws Error as launched().
  std::vector<std::string> launches() const;

  // Returns a digest of what the task of a launch started, and where, from its mark `.LAUNCH.begun`
  // (spank/launch.h); "" where there is no mark, or where it does not tell, as that of an earlier version.
  std::string program_begun(const std::string& launch) const;

  // .removed.RUN is a run that is being removed; all_removed() returns the ids of all such runs.
  fs::path removed(const std::string& run) const;
  std::vector<std::string> all_removed() const;

  // Takes the label for the run. Returns false where another run has it. Throws std::system_error, and Error
  // as labelled().
  bool claim_label(const std::string& label, const std::string& run) const;
  // Frees every label of this user that names the run.
  void free_labels(const std::string& run) const;
  // Notes that the launch records nothing, and that the user was told why. srun then does not warn
  // (spank/launch.h).
  void disclaim_launch(const std::string& launch) const;
  // Notes that several programs share the launch: a file .LAUNCH.shared. Throws as claim_launch().
  void mark_launch_shared(const std::string& launch) const;
  // Takes the launch for the run: the first process of a launch records. Returns false where it is taken.
  // Throws std::system_error, and Error as launched().
  bool claim_launch(const std::string& launch, const std::string& run) const;

 private:
  fs::path path_;
};

}  // namespace flor::core
