// Brings recorded state back into a program's objects. Everything is verified: the file before anything is
// written, the objects behind it. What the objects hold already (frozen parameters, restored once) is
// verified where it lies and not read again.
//
// Where what the objects hold is of no use any more, large tensors are read straight into their memory and
// verified as they arrive: one pass instead of two.
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

  // What may become of the objects when the checkpoint turns out to be damaged.
  enum class OnDamage { keep, spoil };

  // Returns the generator states that go with it, which are not set yet. Throws Damage when it cannot be
  // used; the objects are then as they were, or spoiled where that was allowed. Throws Error when the objects
  // do not hold what was written to them.
  std::map<std::string, std::string> restore(const RecordIndex::CheckpointEntry& entry, const std::string& at,
                                             State& state, OnDamage on_damage = OnDamage::keep);

 private:
  // Large tensors that can be read straight into the memory of the objects.
  static std::vector<Checkpoint::Target> direct(const CheckpointHeader& header,
                                                const std::vector<Buffer>& live,
                                                const std::set<std::string>& present);
  // Names of large tensors that have the recorded bytes already.
  std::set<std::string> present(const CheckpointHeader& header, const std::vector<Buffer>& live) const;
  // The state digest of the objects, which hold `header`'s state if all went well.
  std::string digest_behind(const CheckpointHeader& header, const std::vector<Buffer>& live,
                            const std::set<std::string>& present);

  const RunDir run_;
  std::unordered_map<const void*, std::string> held_;  // memory → digest of what was last restored there
};

}  // namespace flor::core
