// Finds tensors whose bytes an earlier checkpoint of the run already holds, so that they need not be copied
// and written again.
//
// An equal change hint makes it likely that a tensor did not change. Its digest proves it. A tensor whose
// hint stayed the same is hashed once more. If its digest also stayed the same, it is trusted from then on:
// neither copied, nor hashed, nor written. Of one in host memory, samples are still compared each time: a
// program that overwrites all of it (a target network through `.data`) shows at once. Every `turn`
// checkpoints it is hashed again. One whose hint has no anchor is hashed each time.
//
// A tensor that changed while its hint did not (a write through `.data`) is never trusted again. The
// checkpoints that trusted it meanwhile are reported, so that no replay uses them. Not detected: a silent
// change between the samples, or in device memory, in the last `turn` checkpoints at most, if the program is
// then killed, leaves its loop early, or next writes the tensor in a way that the hint shows.
//
// Thread-safe: find_unchanged() runs on the training thread, learn() on the writing thread.
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
  // Smaller tensors are hashed each time: that costs less than trusting could save.
  static constexpr std::size_t worth_trusting = std::size_t{256} << 10;
  // Of a trusted tensor in host memory, so many parts of so many bytes are compared, the first and the last
  // among them.
  static constexpr std::size_t samples = 64;
  static constexpr std::size_t sample_bytes = 1024;
  // Below this size a reference costs about as much as the bytes.
  static constexpr std::size_t worth_referring = 1024;

  // Where the bytes of a tensor are durably stored.
  struct BlobRef {
    std::string digest, file, tensor;
  };

  // Returns for each buffer where its bytes are already stored; nullopt if they must be copied. `file` is the
  // checkpoint that is being made. Call settled() for it in any case.
  std::vector<std::optional<BlobRef>> find_unchanged(const std::vector<Buffer>& live,
                                                     const std::string& file);

  // Returns the bytes that a checkpoint would have to copy, as far as hints tell. Reads no tensor.
  std::size_t to_copy(const std::vector<Buffer>& live) const;

  // Records that a tensor with this hint is durably stored at `ref`.
  void learn(const ChangeHint& hint, const BlobRef& ref);

  // Hashes each tensor that was trusted since it was last hashed. Called at the end of the program.
  void recheck_trusted(const std::vector<Buffer>& live);

  // Returns and forgets the silent changes that were found.
  std::vector<SilentChange> take_silent_changes();

  // Records that the checkpoint is durable or has failed. From now on, the header of a durable one shows
  // which files it refers to.
  void settled(const std::string& checkpoint);

  // Makes sure that no later checkpoint refers to `file`. Returns false if a checkpoint that is not settled
  // does.
  bool forget(const std::string& file);

 private:
  struct Known {
    std::uint64_t version = 0;
    BlobRef ref;
    std::shared_ptr<const void> anchor;
    bool learned = false;
    // The digest of the samples when it was last hashed; "": of device memory, or not hashed here yet.
    std::string sampled;
    // The digest was the same twice under one version.
    bool confirmed = false;
    bool silent = false;
    // The checkpoint that last hashed it.
    std::int64_t verified = 0;
    // The checkpoint that last asked for it.
    std::int64_t seen = 0;
    // Checkpoints that trusted it since then.
    std::vector<std::string> on_trust;
  };
  using Memory = std::array<std::uint64_t, 4>;

  std::optional<BlobRef> find(const Buffer& buffer, const std::string& file);
  std::optional<BlobRef> look(const Buffer& buffer, Known& known);
  void distrust(const std::string& tensor, Known& known);
  void forget_the_dead(std::size_t live);

  mutable std::mutex mutex_;
  std::map<Memory, Known> known_;
  // Checkpoint → the files that it refers to.
  std::map<std::string, std::set<std::string>> unsettled_;
  std::vector<SilentChange> changes_;
  std::int64_t checkpoints_ = 0;
  // Tensors confirmed so far.
  std::int64_t confirmed_ = 0;
};

}  // namespace flor::core
