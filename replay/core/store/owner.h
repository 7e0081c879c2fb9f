// owner.N.json: which process records attempt N of a run, for readers on nodes where its lock cannot be seen.
// Fields: docs/formats.md, "owner.N.json". Its modification time is the recorder's heartbeat; an empty file
// says that the attempt has ended.
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
  std::string host, boot;  // boot: the kernel's random id of this boot
  std::string pids;        // the namespace that `pid` counts in
  int64_t pid = 0;
  std::uint64_t start = 0;  // field 22 of /proc/PID/stat
  int64_t uid = -1;
  std::string cluster, job, step;  // Slurm's names; empty outside of Slurm
  int64_t restart = 0;             // how often Slurm had requeued the job
  bool shared_locks = false;       // do the file system's locks hold on all nodes, as mounted on `host`?
};

// This process, as the recorder of a run in `directory`.
Owner this_process(const fs::path& directory);

Json to_json(const Owner& owner);
Owner owner_from(const Json& json);

// Does that process live? Nothing where /proc does not tell. For an owner on this kernel, in these pids.
std::optional<bool> is_running(const Owner& owner);

// Field 22 of the text of /proc/PID/stat; nothing in any other text. Pure.
std::optional<std::uint64_t> start_time_in(const std::string& stat);

struct FoundOwner {
  fs::path path;
  bool ended = false;
  Owner owner;      // without fields where the file is no owner's
  double beat = 0;  // the last heartbeat, by the file server's clock
};
// That of the newest attempt; nothing for a run that has none. Throws std::system_error, Error where the file
// cannot be read, or is no regular file.
std::optional<FoundOwner> find_owner(const RunDir& run);

// Empties the newest attempt's file; one is made for `attempt` where the run has none.
void end_owner(const RunDir& run, int64_t attempt);

// The recorder's hold on its own file. Thread-safe for beat(), which end() must not overtake.
class OwnerFile {
 public:
  static constexpr std::chrono::seconds interval{10};

  OwnerFile() = default;
  // Makes owner.ATTEMPT.json, and ends the attempt before. Throws Error where another recorder that may live
  // has made it.
  static OwnerFile create(const RunDir& run, int64_t attempt);

  // False: a further attempt, or `flor unlock`, has ended this one, and the run is no longer its own.
  bool beat() const noexcept;
  void end() const noexcept;

 private:
  explicit OwnerFile(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace flor::core
