// What need not be materialized again: tensors whose bytes lie in an earlier checkpoint of the run.
//
// A buffer's hint makes it likely, its digest proves it. A tensor whose hint stayed the same is hashed once
// more, and if its digest stayed the same as well it is taken on trust from then on: neither copied, nor
// hashed, nor written. Every `turn` checkpoints it is hashed again. A tensor that changed while its hint did
// not (a write through `.data`) is never trusted again, and the checkpoints that took it on trust meanwhile
// are named, so that no replay uses them. What stays unknown: whether one changed silently in the checkpoints
// since it was last hashed, `turn` at most, where the program is killed then, or goes on to write it as it
// should.
//
// Thread-safe: find_unchanged() on the training thread, learn() on the one that writes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/checkpoint/buffers.h"
#include "core/materialize/materializer.h"

namespace flor::core {

class Unchanged {
 public:
  static constexpr std::int64_t turn = 16;
  // Smaller tensors are hashed each time: that costs less than it could save.
  static constexpr std::size_t worth_trusting = std::size_t{256} << 10;
  // Below this a reference costs about as much as the bytes.
  static constexpr std::size_t worth_referring = 1024;

  // Where the bytes of a tensor lie durably.
  struct BlobRef {
    std::string digest, file, tensor;
  };

  // For each buffer: where its bytes lie already; nothing: they have to be copied. `file`: the checkpoint
  // that is being made.
  std::vector<std::optional<BlobRef>> find_unchanged(const std::vector<Buffer>& live,
                                                     const std::string& file);

  // The bytes that a checkpoint would have to copy, as far as hints tell. Reads no tensor.
  std::size_t to_copy(const std::vector<Buffer>& live) const;

  // A tensor with this hint lies durably in `ref`.
  void learn(const ChangeHint& hint, const BlobRef& ref);

  // Hashes each tensor that was taken on trust since it was last hashed: the program is through.
  void recheck_trusted(const std::vector<Buffer>& live);

  std::vector<SilentChange> take_silent_changes();

  // The checkpoint is durable, or has failed; what it refers to is known to whoever reads it.
  void settled(const std::string& checkpoint);

  // No later checkpoint will refer to `file`. False where one that is not settled yet does.
  bool forget(const std::string& file);

 private:
  struct Known {
    std::uint64_t version = 0;
    BlobRef ref;
    std::shared_ptr<const void> anchor;
    bool confirmed = false;  // the digest was the same twice under one version
    bool silent = false;
    std::int64_t verified = 0;          // the checkpoint that last hashed it
    std::int64_t seen = 0;              // the checkpoint that last asked for it
    std::vector<std::string> on_trust;  // the checkpoints since
  };
  using Memory = std::array<std::uint64_t, 4>;

  std::optional<BlobRef> find(const Buffer& buffer, const std::string& file);
  std::optional<BlobRef> look(const Buffer& buffer, Known& known);
  void forget_the_dead(std::size_t live);

  mutable std::mutex mutex_;
  std::map<Memory, Known> known_;
  std::map<std::string, std::set<std::string>> unsettled_;  // checkpoint → the files that it refers to
  std::vector<SilentChange> changes_;
  std::int64_t checkpoints_ = 0;
  std::int64_t confirmed_ = 0;  // tensors so far
};

}  // namespace flor::core
