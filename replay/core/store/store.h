// The store and the run directory: every path and name in them, and nothing else that touches them by name.
// Layout: docs/formats.md, "The store".
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/valid_id.h"
#include "core/files/file_lock.h"

namespace flor::core {

namespace fs = std::filesystem;

// YYYYMMDD-HHMMSS-xxxxxxxxxxxxxxxx in UTC with 64 random bits, after `prefix`.
std::string new_id(const std::string& prefix = "");

// The directory of one replay.
struct ReplayDir {
  fs::path path;

  std::string id() const { return path.filename().string(); }
  fs::path plan() const { return path / "plan.json"; }
  fs::path units() const { return path / "units"; }
  fs::path unit(int64_t id) const;
  fs::path proofs() const { return path / "proofs"; }
  fs::path proof(int64_t id) const;       // which units a proof slot executes
  fs::path proof_rows(int64_t id) const;  // what that yielded
  fs::path log() const { return path / "log.jsonl"; }
  fs::path verdict() const { return path / "verdict.json"; }
  fs::path failure() const { return path / "failure.json"; }
  fs::path incarnation() const { return path / "incarnation"; }
  fs::path timeline() const { return path / "timeline.jsonl"; }
  fs::path workers() const { return path / "workers"; }
};

// The directory of one run.
struct RunDir {
  fs::path path;

  std::string id() const { return path.filename().string(); }
  fs::path manifest() const { return path / "run.json"; }
  fs::path lock() const { return path / "run.lock"; }
  fs::path source() const { return path / "source"; }
  fs::path checkpoints() const { return path / "checkpoints"; }
  // Relative to the run directory, as checkpoints name each other. A further attempt of a recording gives its
  // files names of their own: what the earlier one wrote may still wait in some node's local tier. A long
  // name ends in its digest instead.
  static fs::path checkpoint_file(const std::string& block, const std::string& stem, int64_t attempt = 0);
  static int64_t attempt_of(const std::string& checkpoint_file);
  fs::path timeline() const { return path / "timeline.jsonl"; }
  fs::path log() const { return path / "log.jsonl"; }
  fs::path generators() const { return path / "generators.jsonl"; }
  fs::path replays() const { return path / "replays"; }
  ReplayDir replay(const std::string& id) const;  // throws UsageError when `id` is no valid id
  std::vector<ReplayDir> all_replays() const;     // oldest first, those with a plan

  // Is it known that a process records it now? (core/store/liveness.h tells more.)
  bool is_being_recorded() const;
};

class Store {
 public:
  explicit Store(fs::path path) : path_(std::move(path)) {}
  const fs::path& path() const { return path_; }

  // Creates the last component if missing and proves that a file can be written and synced there.
  // Throws UsageError: one line that says which part is wrong and what to do.
  void require_writable() const;

  // A run by this user's label, by id, or by a unique prefix of its id.
  // Throws UsageError: unknown or ambiguous, naming the store and `flor runs`.
  RunDir find(const std::string& id_or_label) const;
  // The same, for what writes into the run or starts what lies there. Throws UsageError as well where the run
  // is another user's.
  RunDir find_own(const std::string& id_or_label) const;

  RunDir run(const std::string& id) const;  // throws UsageError when `id` is no valid id
  std::vector<RunDir> runs() const;         // oldest first, those with a manifest

  fs::path label(const std::string& label) const;  // .names/UID/LABEL, of this user
  fs::path launch(const std::string& id) const;    // .launches/UID/ID, of this user

  // The run that the label names; nothing where it names none. Throws UsageError where that run is another
  // user's, Error where the user's directory of labels cannot be trusted (shared_directory.h).
  std::optional<RunDir> labelled(const std::string& label) const;
  // The id that the label names, whether or not there is such a run; empty where the label is free.
  std::string label_target(const std::string& label) const;
  // What the launch recorded: the text of its file, an id. Nothing where it recorded nothing. Throws Error
  // where the user's directory of launches cannot be trusted.
  std::optional<std::string> launched(const std::string& id) const;

  // .removed.RUN: a run that is being removed, and the ids of all of them.
  fs::path removed(const std::string& run) const;
  std::vector<std::string> all_removed() const;

  // Takes the label for the run; false when it is taken. Throws std::system_error, Error as labelled().
  bool claim_label(const std::string& label, const std::string& run) const;
  // Frees every label of this user that names the run.
  void free_labels(const std::string& run) const;
  // Says that the launch records nothing, for which a reason was given: srun need not warn of it
  // (spank/launch.h).
  void disclaim_launch(const std::string& launch) const;
  // Takes the launch for the run: the first process of a launch records. False when it is taken. Throws
  // std::system_error, Error as launched().
  bool claim_launch(const std::string& launch, const std::string& run) const;

 private:
  fs::path path_;
};

}  // namespace flor::core
