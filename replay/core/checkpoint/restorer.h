// Restores recorded state into the objects of a program. Restorer verifies the file before it writes
// anything, and the objects afterwards. State that the objects already hold (frozen parameters, restored
// once) is verified in place and not read again.
//
// Where the present content of the objects is not needed any more, large tensors are read straight into their
// memory and verified while they arrive: one pass instead of two.
#pragma once

#include <functional>
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

  // Prepares the state for a comparison with the entry. Returns false if that needs what only the file says,
  // and the file is gone or damaged.
  bool is_comparable(const RecordIndex::CheckpointEntry& entry, State& state) const;

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

// Reads a recording: what it has for each scope path, and how to restore it. Training thread only.
class RecordReader {
 public:
  // Receives reports.
  struct Listener {
    // A restore took so many seconds.
    std::function<void(const std::string& at, double seconds)> restored;
    // A checkpoint is damaged.
    std::function<void(const std::string& line)> damaged;
    // An object does not hold what was written to it, so the program must not go on. Does not return.
    std::function<void(const std::string& why)> spoiled;
    // A restore failed half-way, which it may not do on another node. Does not return either.
    std::function<void(const std::string& why)> failed;
    // The system refuses to read a checkpoint. Returns whether to try again. May be empty: no.
    std::function<bool(const std::string& why)> refused = nullptr;
  };

  // `frontend` must outlive this. `wanted`: as RecordIndex takes it.
  RecordReader(const RunDir& run, Frontend& frontend, Listener listener,
               const GeneratorLog::Wanted& wanted = nullptr);

  const RecordIndex& index() const { return index_; }

  // Restores what was recorded at `at`, generators included. Returns false if it cannot, and reports damage.
  // `on_damage`: what may happen to the objects then.
  bool restore(const std::string& at, State& state, Restorer::OnDamage on_damage = Restorer::OnDamage::keep);

  // As restore(), but leaves the generators unchanged.
  bool restore_objects(const std::string& at, State& state);

  // Returns what was recorded at `at`, if the live state can be compared with it.
  const RecordIndex::CheckpointEntry* comparable(const std::string& at, State& state) const;

  // Sets the generators as they were at the entry or exit of a scope path. Returns false if that was not
  // recorded.
  bool pin_generators(const std::string& at, const char* edge);
  // Compares the generators with those there; see GeneratorLog.
  std::optional<GeneratorLog::Difference> generator_difference(const std::string& at, const char* edge);

 private:
  // Restores the checkpoint, as often as the listener wants.
  GeneratorStates patiently_restored(const RecordIndex::CheckpointEntry& entry, const std::string& at,
                                     State& state, Restorer::OnDamage on_damage);

  Frontend& frontend_;
  const Listener listener_;
  const RecordIndex index_;
  Restorer restorer_;
};

}  // namespace flor::core
