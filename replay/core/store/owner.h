// Reads and writes owner.N.json: which process records attempt N of a run. Readers need it on nodes where the
// run's lock cannot be seen. Its modification time is the recorder's heartbeat. An empty file means that the
// attempt has ended. Fields: docs/formats.md, "owner.N.json".
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/json.h"
#include "core/files/descriptor.h"
#include "core/store/store.h"

namespace flor::core {

struct Owner {
  // `boot` is the kernel's random id of this boot.
  std::string host, boot;
  // The PID namespace of `pid`.
  std::string pids;
  int64_t pid = 0;
  // When the process started: field 22 of /proc/PID/stat.
  std::uint64_t start = 0;
  // The file system that its directory lies in, by the kernel's number (st_dev). A file system that is
  // mounted twice can have two numbers, and then two sets of locks. 0: not known.
  std::uint64_t device = 0;
  int64_t uid = -1;
  // Slurm's names; empty outside of Slurm.
  std::string cluster, job, step;
  // How often Slurm had requeued the job.
  int64_t restart = 0;
  // Do the file system's locks hold on all nodes, as mounted on `host`?
  bool shared_locks = false;
};

// Describes this process as the recorder of a run in `directory`.
Owner this_process(const fs::path& directory);

Json to_json(const Owner& owner);
Owner owner_from(const Json& json);

// Are the locks of `owner` seen by a process that this_process() describes? flock() belongs to one mount of a
// file system on one kernel, where the file system does not share it (Owner::shared_locks).
bool sees_locks_of(const Owner& owner, const Owner& here);

// Does the owner's process live? std::nullopt where /proc does not tell. Call only for an owner on this
// kernel and in this PID namespace.
std::optional<bool> is_running(const Owner& owner);

// Is the process with this number on this kernel an ancestor of this one? False where /proc does not tell.
bool is_started_by(int64_t pid);

// Was the process with this number on this kernel started beside this one: by the same parent, or in the same
// process group, as by wrappers in one task? False for this process itself.
bool is_started_beside(int64_t pid);

// Returns field 22 of a text of /proc/PID/stat; std::nullopt for any other text. Pure.
std::optional<std::uint64_t> start_time_in(const std::string& stat);

struct FoundOwner {
  fs::path path;
  bool ended = false;
  // With default fields where the file does not describe an owner.
  Owner owner;
  // The last heartbeat, in seconds since 1970 by the file server's clock.
  double beat = 0;
};
// Returns the owner of the newest attempt; std::nullopt for a run without one. Throws std::system_error or
// Error where the file cannot be read or is not a regular file.
std::optional<FoundOwner> find_owner(const RunDir& run);

// Empties the owner file of the newest attempt. Where the run has none, creates an empty one for `attempt`.
void end_owner(const RunDir& run, int64_t attempt);

// The recorder's own owner file. beat() may be called by several threads, but not after or during end().
class OwnerFile {
 public:
  // How often the recorder beats.
  static constexpr std::chrono::seconds interval{10};

  OwnerFile() = default;
  // Creates owner.ATTEMPT.json, and ends the attempt before it. Throws Error where another recorder, which
  // may live, created the file.
  static OwnerFile create(const RunDir& run, int64_t attempt);

  // Updates the heartbeat. Returns false where a later attempt or `flor unlock` has ended this one: then the
  // run no longer belongs to it.
  bool beat() const noexcept;
  // Marks the attempt as ended: empties the file.
  void end() const noexcept;

 private:
  OwnerFile(Descriptor file, fs::path path, std::string text)
      : file_(std::move(file)), path_(std::move(path)), text_(std::move(text)) {}
  bool beat_by_name() const noexcept;

  Descriptor file_;
  fs::path path_;
  std::string text_;
};

}  // namespace flor::core
