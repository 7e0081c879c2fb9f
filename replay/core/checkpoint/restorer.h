// Restores recorded state into the objects of a program. Verifies the file before it writes anything, and the
// objects afterwards. State that the objects already hold (frozen parameters, restored once) is verified in
// place and not read again.
//
// Where the present content of the objects is not needed any more, large tensors are read straight into their
// memory and verified while they arrive: one pass instead of two.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/checkpoint/buffers.h"
#include "core/checkpoint/reader.h"
#include "core/checkpoint/record_index.h"

namespace flor::core {

class Restorer {
 public:
  explicit Restorer(RunDir run) : run_(std::move(run)) {}

  // What may happen to the objects if the checkpoint turns out to be damaged: they stay as they were, or may
  // hold anything.
  enum class OnDamage { keep, spoil };

  // Returns the generator states of the checkpoint. Does not set them. Throws Damage if the checkpoint cannot
  // be used; the objects are then as `on_damage` says. Throws Error if the objects do not hold what was
  // written to them.
  std::map<std::string, std::string> restore(const RecordIndex::CheckpointEntry& entry, const std::string& at,
                                             State& state, OnDamage on_damage = OnDamage::keep);

 private:
  // Selects large tensors that can be read straight into the memory of the objects.
  static std::vector<Checkpoint::Target> direct(const CheckpointHeader& header,
                                                const std::vector<Buffer>& live,
                                                const std::set<std::string>& present);
  // Returns the names of large tensors that already have the recorded bytes.
  std::set<std::string> present(const CheckpointHeader& header, const std::vector<Buffer>& live) const;
  // Returns the state digest of the objects after the restore.
  std::string digest_behind(const CheckpointHeader& header, const std::vector<Buffer>& live,
                            const std::set<std::string>& present);

  const RunDir run_;
  // Memory → digest of what was last restored there.
  std::unordered_map<const void*, std::string> held_;
};

}  // namespace flor::core
