// Materializing turns live buffers into a durable checkpoint file. The implementations differ in how they
// copy the values and where they write. All keep the promises of this interface.
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

// The result of one checkpoint. Durations in seconds.
struct Materialized {
  // Why there is no file. Empty: the file is durable.
  std::string error;
  // Where the file was written.
  Tier tier = Tier::store;
  // State digest.
  std::string state;
  // Time from the start of the write until the file was durable.
  double write = 0;
  // Training went on meanwhile.
  bool background = true;
  // Processor time of the write.
  double processor = 0;
  // How the bytes were written: "plain", "cached" or "direct" (core/materialize/direct_output.h).
  std::string engine;
  // Bytes of the state.
  std::size_t bytes = 0;
  // Bytes of the file. Less than `bytes` if earlier files hold some of them.
  std::size_t written = 0;
  // Those earlier files.
  std::vector<std::string> refers_to;
};

struct MaterializeJob {
  // `file` is relative to the run directory.
  std::string block, at, file;
  // Makes durable what must be durable before the checkpoint. Throws if it cannot.
  std::function<void()> before;
  // Called on any thread. Must not throw.
  std::function<void(const Materialized&)> done;
};

// A tensor whose bytes changed although its hint did not, and the checkpoints that are wrong about it.
struct SilentChange {
  std::string tensor;
  std::vector<std::string> files;
};

class Materializer {
 public:
  // Waits until all checkpoints that were begun are written.
  virtual ~Materializer() = default;

  // Takes the values as they are now. When it returns, training may change the buffers. Waits (back-pressure)
  // if it would otherwise hold more memory than it promises. Returns an error instead of throwing; `done` is
  // then not called.
  virtual std::string materialize(MaterializeJob job, const std::vector<Buffer>& live) = 0;

  // Returns true while a checkpoint is being written.
  virtual bool busy() const = 0;
  // Waits until no checkpoint is being written.
  virtual void drain() = 0;

  // Returns true if materialize() could copy `bytes` bytes now, without waiting for an earlier checkpoint,
  // and into memory that is already mapped. If the memory is not mapped, starts to map it in the background,
  // and waits up to `patience` seconds. Motivation: page faults of fresh memory can cost ten times as much as
  // the copy, and training would pay them at once.
  virtual bool ready(std::size_t bytes, double patience) = 0;
  // Returns the seconds that this preparation took from training since the last call.
  virtual double take_preparation() = 0;

  // Returns true if a checkpoint needs memory for a copy of state in host memory, also where the kernel makes
  // it. State on a device is copied by all.
  virtual bool copies() const { return true; }
  // Throws, once, what went wrong on a thread of the materializer's besides a write, such as std::bad_alloc.
  // What it knows of earlier checkpoints may then be wrong, and it must not be used any more.
  virtual void throw_failure() = 0;

  // Returns the bytes that a checkpoint would copy, as far as hints tell.
  virtual std::size_t to_copy(const std::vector<Buffer>& live) const = 0;
  // Checks the tensors that were assumed unchanged. Called at the end of the program: no later checkpoint
  // would find a silent change.
  virtual void recheck_trusted(const std::vector<Buffer>& live) = 0;
  virtual std::vector<SilentChange> take_silent_changes() = 0;

  // Makes sure that no later checkpoint refers to `file`, which will be removed. Returns false if a
  // checkpoint that was begun may refer to it; then the file must stay for now. Call it only from `done`.
  virtual bool forget(const std::string& file) = 0;
};

// `inline`: hashes and writes on the training thread, from live memory. The baseline.
std::unique_ptr<Materializer> make_inline_materializer(const Tiers& tiers);

// `thread`: copies what changed into memory that stays mapped as long as no one else needs it, and writes on
// one background thread. Holds one copy: a second checkpoint waits for the first.
std::unique_ptr<Materializer> make_thread_materializer(const Tiers& tiers);

// `fork`: a child process sees memory as it is now, hashes and writes it. Copies only what is not plain host
// memory; but the kernel copies each page that training writes meanwhile. At most one child at a time.
std::unique_ptr<Materializer> make_fork_materializer(const Tiers& tiers);

// `fork-batch`: copies what changed. One child writes many checkpoints once `batch_bytes` are buffered, or at
// drain(). (The mechanism of Flor's background materialization, made there for Python's interpreter lock.)
std::unique_ptr<Materializer> make_fork_batch_materializer(const Tiers& tiers,
                                                           std::size_t batch_bytes = std::size_t{256} << 20);

// Makes a materializer by name. `auto` and "" are `thread`. Where state lies on a GPU, `thread` takes the
// place of one that forks, with a warning. Throws UsageError for any other name.
std::unique_ptr<Materializer> make_materializer(const std::string& name, const Tiers& tiers);

}  // namespace flor::core
