// Decides whether a checkpoint can have the writer now. All kinds of checkpoints share one writer, which
// writes one at a time. Training thread only.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "core/materialize/materializer.h"
#include "core/recording/execution.h"

namespace flor::core {

class WriterArbiter {
 public:
  using Kinds = std::map<std::string, CheckpointKind>;

  // A wait for the writer ends `patience` seconds after the time that the slowest store would need.
  // `materializer` and `kinds` must outlive this object.
  WriterArbiter(Materializer& materializer, const Kinds& kinds, double patience);

  // Returns why a checkpoint that the policy wants cannot be taken now; std::nullopt where it can. Waits for
  // memory, or for a write that is expected to end soon, as long as the budget allows.
  std::optional<std::string> skip_reason(Execution& execution);

  // Waits for the writer, for a checkpoint that is taken whatever it costs. Returns why it cannot be taken:
  // the store hangs. std::nullopt where it can.
  std::optional<std::string> wait_for_writer(Execution& execution);

  // A store that has not written its bytes after this many seconds counts as hung.
  double longest_wait() const;

  // Waits until the writer can take this many more bytes. Returns false where the store hangs.
  bool wait_until_free(std::size_t bytes);

  // Call when the writer begins with a checkpoint of this kind.
  void assign(const std::string& block) { writing_ = block; }

 private:
  bool wait_for_memory(Execution& execution);
  bool wait_for_short_write(Execution& execution);
  bool gives_way(const Execution& execution) const;

  Materializer& materializer_;
  const Kinds& kinds_;
  const double patience_;
  // The kind of the last checkpoint.
  std::string writing_;
  // The last wait for the writer had no success.
  bool hung_ = false;
};

}  // namespace flor::core
