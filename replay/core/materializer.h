// Materializing: from live buffers to a durable checkpoint file. Implementations differ in how they get hold
// of the values (copy, fork, …) and where they write; all keep the promises of this interface.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/buffers.h"
#include "core/tiers.h"

namespace flor::core {

// What became of one checkpoint. Durations in seconds.
struct Materialized {
  std::string error;        // empty: the file is durable
  std::string state;        // digest of the state
  double write = 0;         // from the start of the write to its durability
  double processor = 0;     // processor time that the write took
  std::size_t bytes = 0;    // of the state
  std::size_t written = 0;  // of the file; less, where earlier files hold the same bytes
  Tier tier = Tier::store;  // where the file was written
};

struct MaterializeJob {
  std::string block, at, file;   // `file` relative to the run directory
  std::function<void()> before;  // on the writer: what must be durable before the checkpoint is
  std::function<void(const Materialized&)> done;  // on the writer; must not throw
};

class Materializer {
 public:
  virtual ~Materializer() = default;  // waits for what was begun

  // Takes the values as they are now: when it returns, training may change the buffers.
  // Waits (back-pressure) rather than hold more checkpoints in memory than it promised. Returns an error
  // instead of throwing, for `done` is then not called.
  virtual std::string materialize(MaterializeJob job, const std::vector<Buffer>& live) = 0;

  virtual bool busy() const = 0;  // is anything being written now?
  virtual bool full() const = 0;  // would materialize() have to wait?
  virtual void drain() = 0;       // returns when nothing is being written
};

// `thread`: copies on the training thread into memory that is kept warm, writes on one background thread.
// At most two checkpoints are held in memory.
std::unique_ptr<Materializer> make_thread_materializer(const Tiers& tiers);

}  // namespace flor::core
