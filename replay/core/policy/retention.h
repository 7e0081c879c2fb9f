// Which checkpoints a recording keeps: the newest N of each kind, and what they refer to.
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
  std::string kind;                    // block, or @iteration
  std::string at, file;                // scope path; relative to the run directory
  std::vector<std::string> refers_to;  // the other files that hold bytes of its tensors
  bool retired = false;                // taken back; its file stays for what others refer to
};

struct Thinning {
  std::vector<std::string> files;    // to be removed
  std::vector<std::string> retired;  // to stay, though no checkpoints any more: others refer to them
  std::vector<std::string> orphans;  // taken back before, now without one that refers to them: to be removed
};

// What may go so that the newest `keep` checkpoints of each kind stay (0: all): those of the last places that
// the program comes to; of one place, the last in `stored`, which is in order of age. That of a loop's entry
// always stays and is not counted. A file that a checkpoint which stays refers to stays as well; it goes on
// as a checkpoint itself as long as all that it refers to stays. Pure.
// `loops`: the names of the outermost loops in the order in which the program comes to them, as far as known.
Thinning removable(const std::vector<StoredCheckpoint>& stored, int64_t keep,
                   const std::vector<std::string>& loops = {});

// NAME=entry/@iteration: the state in which unit 0 is entered.
bool is_loop_entry(const std::string& at);

// Thins the checkpoints of a run while it is recorded. Thread-safe.
class Retention {
 public:
  // How it touches the world. None may throw, nor come back here.
  struct Actions {
    // No checkpoint that is not durable yet will refer to `file`. False where one that is being written may.
    std::function<bool(const std::string& file)> forget;
    // Appends rows to the timeline and makes them durable: only then are files removed, so that none is
    // missing that the timeline still names.
    std::function<bool(const std::vector<std::string>& rows)> note;
    std::function<void(const std::string& file)> remove;
  };

  // `loops`: as removable() takes them, of an earlier attempt.
  Retention(int64_t keep, Actions actions, std::vector<std::string> loops = {})
      : keep_(keep), actions_(std::move(actions)), loops_(std::move(loops)) {}

  // These were durable before, oldest first: of an earlier attempt of the run.
  void adopt(const std::vector<StoredCheckpoint>& earlier);

  // This checkpoint is durable now, and the timeline names it.
  void durable(StoredCheckpoint checkpoint);

  // These were found wrong, durable or not yet: they take no place among those that are kept.
  void doubt(const std::vector<std::string>& files);

 private:
  const int64_t keep_;
  const Actions actions_;
  const std::vector<std::string> loops_;
  std::mutex mutex_;
  std::vector<StoredCheckpoint> stored_;
  std::set<std::string> doubted_;  // before they were durable
};

}  // namespace flor::core
