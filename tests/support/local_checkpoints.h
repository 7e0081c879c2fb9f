// A run in a store and in a local tier, whose checkpoints are written as a recording writes them.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/checkpoint/reader.h"
#include "core/files/durable.h"
#include "core/store/local_tier.h"
#include "core/store/manifest.h"
#include "core/tier/spool.h"
#include "core/tier/tiers.h"

namespace flor::test {

// Writes as a materializer does: calls `write` with the path to write to, after a failure with the next one.
inline core::Tier put(core::Tiers& tiers, const std::string& file, std::uint64_t bytes,
                      const std::function<void(const core::fs::path&)>& write) {
  for (const auto& target : tiers.targets(file, bytes)) {
    try {
      write(target.path);
      if (target.tier == core::Tier::local) tiers.accepted();
      return target.tier;
    } catch (const std::system_error& problem) {
      if (target.tier == core::Tier::store) throw;
      tiers.refused(problem.code().value(), problem.what());
    }
  }
  throw core::Error("no tier took it");
}

// A checkpoint with one tensor of its own, and with `earlier`, one whose bytes lie in that file.
inline void write_checkpoint(core::Tiers& tiers, const std::string& file, const std::string& content,
                             const std::string& earlier = "", const std::string& shared = "") {
  core::CheckpointHeader header;
  header.run = tiers.run().id();
  header.block = "train";
  header.at = file;
  core::CheckpointTensor own;
  own.name = "0.own";
  own.dtype = "U8";
  own.shape = {static_cast<int64_t>(content.size())};
  own.digest = core::digest_of(content);
  own.end = content.size();
  header.tensors.push_back(own);
  if (!earlier.empty()) {
    core::CheckpointTensor other = own;
    other.name = "0.shared";
    other.shape = {static_cast<int64_t>(shared.size())};
    other.digest = core::digest_of(shared);
    other.end = 0;
    other.file = earlier;
    other.tensor = "0.own";
    header.tensors.push_back(other);
  }
  const std::string text = core::encode_header(header) + content;
  put(tiers, file, text.size(), [&](const core::fs::path& path) { core::write_durably(path, text); });
}

inline std::string checkpoint_name(int epoch) {
  return "checkpoints/train/epoch=" + std::to_string(epoch) + ".safetensors";
}

// The content of the n-th checkpoint's own tensor.
inline std::string checkpoint_content(int epoch, std::size_t size = 3000) {
  std::string out(size, static_cast<char>('a' + epoch % 26));
  return out + std::to_string(epoch);
}

// Two directories under `root`: a store with one run, and a local tier.
struct TwoTiers {
  explicit TwoTiers(const core::fs::path& root, std::uint64_t rate = 0)
      : store(root / "store"), tier(root / "tier"), run{store / "20261120-143005-a3f9"} {
    core::fs::create_directories(run.path);
    core::fs::create_directories(tier);
    core::Manifest manifest;
    manifest.id = run.id();
    core::write_manifest(run, manifest);
    local = core::create_local_run(tier, run, rate);
  }

  core::Tiers tiers() const { return core::Tiers(run, local.path); }
  void write(int count, std::size_t size = 3000) const {
    core::Tiers both = tiers();
    for (int i = 0; i < count; ++i) write_checkpoint(both, checkpoint_name(i), checkpoint_content(i, size));
  }
  // What is wrong with the first `count` checkpoints in the store; empty: nothing.
  std::string damages(int count) const {
    std::string out;
    for (int i = 0; i < count; ++i) {
      for (const auto& line : core::Checkpoint::verify(run, checkpoint_name(i))) out += line + "\n";
    }
    return out;
  }

  core::fs::path store, tier;
  core::RunDir run;
  core::LocalRun local;
};

}  // namespace flor::test
