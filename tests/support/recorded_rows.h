// Small records to plan from.
#pragma once

#include <string>
#include <vector>

#include "core/store/manifest.h"
#include "core/store/timeline.h"

namespace flor::testing {

using core::Json;

inline Json iteration(int64_t epoch, double seconds) {
  return {{"kind", "iteration"},
          {"at", "epoch=" + std::to_string(epoch)},
          {"loop", "epoch"},
          {"value", epoch},
          {"seconds", seconds}};
}
inline Json block(const std::string& at, const std::string& name, double seconds) {
  return {{"kind", "block"}, {"at", at}, {"block", name}, {"seconds", seconds}};
}
inline Json checkpoint(const std::string& at, const std::string& name, double stall, double write) {
  return {{"kind", "checkpoint"}, {"at", at},
          {"block", name},        {"file", "checkpoints/" + name + "/" + at},
          {"stall", stall},       {"write", write}};
}

inline core::Manifest manifest(int64_t epochs, core::LoopEnd ended = core::LoopEnd::exhausted,
                               bool guarded = false) {
  core::RecordedLoop loop;
  loop.name = "epoch";
  loop.end = epochs;
  loop.ended = ended;
  loop.iterations = epochs;
  loop.last = epochs - 1;
  loop.seconds = 1;
  loop.guarded = guarded;
  core::Manifest out;
  out.loops.push_back(loop);
  return out;
}

// Epochs of 2 s with one block `train` of 1.5 s; the block has a checkpoint (M = 0.1 s) in the epochs of
// `saved`.
inline core::Timeline timeline(int64_t epochs, const std::vector<int64_t>& saved) {
  core::Timeline rows;
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    const std::string at = "epoch=" + std::to_string(epoch) + "/train#0";
    rows.push_back(block(at, "train", 1.5));
    for (const int64_t one : saved) {
      if (one == epoch) rows.push_back(checkpoint(at, "train", 0.04, 0.06));
    }
    rows.push_back(iteration(epoch, 2));
  }
  return rows;
}

}  // namespace flor::testing
