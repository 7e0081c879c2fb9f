// Decides which checkpoints a recording keeps: the newest N of each kind, and the files that they refer to.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/checkpoint/header.h"

namespace flor::core {

// A checkpoint in the store.
struct StoredCheckpoint {
  // Block name, or @iteration.
  std::string kind;
  // Scope path, and path relative to the run directory.
  std::string at, file;
  // The other files that hold bytes of its tensors.
  std::vector<std::string> refers_to;
  // No checkpoint any more. Its file stays because others refer to it.
  bool retired = false;
  // Part of it lies only in the local tier. A node that dies would take that with it.
  bool on_node = false;
};

struct Thinning {
  // To remove.
  std::vector<std::string> files;
  // To keep as files but not as checkpoints: others refer to them.
  std::vector<std::string> retired;
  // Retired before, and now without a checkpoint that refers to them: to remove.
  std::vector<std::string> orphans;
};

// Selects what can be removed so that the newest `keep` checkpoints of each kind stay (0: all). Newest means:
// of the last places that the program reaches; of one place, the last in `stored`, which is in order of age.
// A checkpoint of a loop's entry, and one that is not yet in the store, always stays and is not counted. A
// file that a kept checkpoint refers to stays as well, and remains a checkpoint itself as long as all files
// that it refers to stay. Pure. `loops`: the names of the outermost loops in program order, as far as known.
Thinning removable(const std::vector<StoredCheckpoint>& stored, int64_t keep,
                   const std::vector<std::string>& loops = {});

// Matches NAME=entry/@iteration: the state before unit 0.
bool is_loop_entry(const std::string& at);

// Removes checkpoints of a run while it is recorded. Thread-safe.
class Retention {
 public:
  // What it does to files. No action may throw or call Retention.
  struct Actions {
    // Makes sure that no later checkpoint refers to `file`. Returns false if one that is being written may
    // refer to it.
    std::function<bool(const std::string& file)> forget;
    // Appends rows to the timeline and makes them durable. Files are removed only after that, so the timeline
    // never names a file that is missing.
    std::function<bool(const std::vector<std::string>& rows)> note;
    std::function<void(const std::string& file)> remove;
    // Has `file`, which was written to the local tier, come to the store?
    std::function<bool(const std::string& file)> in_store;
  };

  // `loops`: as in removable(), from an earlier attempt.
  Retention(int64_t keep, Actions actions, std::vector<std::string> loops = {})
      : keep_(keep), actions_(std::move(actions)), loops_(std::move(loops)) {}

  // Adds the durable checkpoints of an earlier attempt of the run, oldest first.
  void adopt(const std::vector<StoredCheckpoint>& earlier);

  // Adds a checkpoint that is durable and named by the timeline. Removes what it replaces.
  void durable(StoredCheckpoint checkpoint);

  // Marks checkpoints as wrong, durable or not. They do not count among those that are kept.
  void doubt(const std::vector<std::string>& files);

 private:
  bool is_in_store(const StoredCheckpoint& one) const;

  const int64_t keep_;
  const Actions actions_;
  const std::vector<std::string> loops_;
  std::mutex mutex_;
  std::vector<StoredCheckpoint> stored_;
  // Doubted before they were durable.
  std::set<std::string> doubted_;
};

}  // namespace flor::core
