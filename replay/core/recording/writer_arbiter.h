// Decides whether a checkpoint can have the writer now. All kinds of checkpoint share one writer, which
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

  // A wait for the writer ends `patience` seconds after the time that the slowest store would need. Both
  // objects must outlive this one.
  WriterArbiter(Materializer& materializer, const Kinds& kinds, double patience);

  // Why a checkpoint that the policy wants cannot be taken now; nullopt where it can. Waits only for memory,
  // and only as long as the budget allows.
  std::optional<std::string> skip_reason(Execution& execution);

  // Waits for the writer, for a checkpoint that is taken whatever it costs. Returns why it cannot be taken,
  // which is that the store hangs; nullopt where it can.
  std::optional<std::string> wait_for_writer(Execution& execution);

  // After so many seconds a store that has not written what it was given hangs.
  double longest_wait() const;

  // Waits until the writer can take so many more bytes. False where the store hangs.
  bool wait_until_free(std::size_t bytes);

  // The writer begins with a checkpoint of this kind.
  void assign(const std::string& block) { writing_ = block; }

 private:
  bool wait_for_memory(Execution& execution);
  bool gives_way(const Execution& execution) const;

  Materializer& materializer_;
  const Kinds& kinds_;
  const double patience_;
  std::string writing_;  // the kind of the last checkpoint
  bool hung_ = false;    // the last wait for the writer was in vain
};

}  // namespace flor::core
