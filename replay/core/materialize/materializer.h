// Materializing: from live buffers to a durable checkpoint file. Implementations differ in how they get hold
// of the values and where they write; all keep the promises of this interface.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/checkpoint/buffers.h"
#include "core/tier/tiers.h"

namespace flor::core {

// What became of one checkpoint. Durations in seconds.
struct Materialized {
  std::string error;                   // empty: the file is durable
  Tier tier = Tier::store;             // where the file was written
  std::string state;                   // digest of the state
  double write = 0;                    // from the start of the write to its durability
  bool background = true;              // training went on meanwhile
  double processor = 0;                // processor time that the write took
  std::string engine;                  // how the bytes went into the file: "plain", "io_uring, direct", …
  std::size_t bytes = 0;               // of the state
  std::size_t written = 0;             // of the file; less, where earlier files hold the same bytes
  std::vector<std::string> refers_to;  // those files
};

struct MaterializeJob {
  std::string block, at, file;   // `file` relative to the run directory
  std::function<void()> before;  // what must be durable before the checkpoint is; throws when it is not
  std::function<void(const Materialized&)> done;  // on any thread; must not throw
};

// A tensor that changed in a way that its hint did not show, with the checkpoints that are wrong about it.
struct SilentChange {
  std::string tensor;
  std::vector<std::string> files;
};

class Materializer {
 public:
  virtual ~Materializer() = default;  // waits for what was begun

  // Takes the values as they are now: when it returns, training may change the buffers.
  // Waits (back-pressure) rather than hold more memory than it promised. Returns an error instead of
  // throwing, for `done` is then not called.
  virtual std::string materialize(MaterializeJob job, const std::vector<Buffer>& live) = 0;

  virtual bool busy() const = 0;  // is anything being written now?
  virtual void drain() = 0;       // returns when nothing is being written

  // Could materialize() copy so many bytes now: without waiting for an earlier checkpoint, and into memory
  // that is there? Where the memory is not, begins to make it so in the background, and waits for that up to
  // `patience` seconds. Motivation: the page faults of fresh memory can cost ten times what the copy costs,
  // and training would pay them in one piece.
  virtual bool ready(std::size_t bytes, double patience) = 0;
  // Seconds that this took from training in the background since last asked.
  virtual double take_preparation() = 0;

  virtual std::size_t to_copy(const std::vector<Buffer>& live) const = 0;  // bytes, as far as hints tell
  // The program is through: no later checkpoint will find what changed silently.
  virtual void recheck_trusted(const std::vector<Buffer>& live) = 0;
  virtual std::vector<SilentChange> take_silent_changes() = 0;

  // From `done` only: no checkpoint that is not durable yet will refer to `file`, which is to be removed.
  // False where one that was begun may: then the file has to stay for now.
  virtual bool forget(const std::string& file) = 0;
};

// `inline`: digests and writes on the training thread, from live memory. The baseline.
std::unique_ptr<Materializer> make_inline_materializer(const Tiers& tiers);

// `thread`: copies what changed into memory that is kept warm, writes on one background thread. Holds one
// copy of what changed: a second checkpoint waits for the first.
std::unique_ptr<Materializer> make_thread_materializer(const Tiers& tiers);

// `fork`: a child of this process, which sees memory as it is now, digests and writes it; nothing is copied
// but what is not plain host memory. At most one child at a time.
std::unique_ptr<Materializer> make_fork_materializer(const Tiers& tiers);

// `fork-batch`: copies what changed; one child writes many checkpoints, once `batch_bytes` are buffered, or
// at drain(). (The mechanism of Flor's background materialization, there made for Python's interpreter lock.)
std::unique_ptr<Materializer> make_fork_batch_materializer(const Tiers& tiers,
                                                           std::size_t batch_bytes = std::size_t{256} << 20);

// By name. Throws UsageError for a name that is none.
std::unique_ptr<Materializer> make_materializer(const std::string& name, const Tiers& tiers);

}  // namespace flor::core
