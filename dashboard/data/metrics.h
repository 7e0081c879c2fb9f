// What a monitoring system reads: the runs and the replays of a store in Prometheus's text format 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats). docs/dashboard.md lists the names.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/store.h"
#include "results/work.h"

namespace flor::dashboard {

// A replay that workers execute, or whose answer a `flor replay` waits for.
struct ReplayUnderWay {
  std::string run, replay;
  // Units that the question needs, and those of them that are committed.
  int64_t units = 0, committed = 0;
  std::size_t workers = 0;
  // Executions that run now, and those that were interrupted.
  int64_t running = 0, interrupted = 0;
  results::WorkTotals totals;
};

// `snapshot`: Runs::snapshot(). Pure.
std::string metrics_text(const core::Json& snapshot, const std::vector<ReplayUnderWay>& replays);

// Answers a monitoring system from the snapshot that was last published, and from the files of replays.
// Thread-safe.
class Metrics {
 public:
  explicit Metrics(core::Store store) : store_(std::move(store)) {}

  // `snapshot`: the text of Runs::snapshot().
  void publish(std::string snapshot);
  // Reads the replays that go on. Leaves out those that cannot be read.
  std::string text() const;

 private:
  const core::Store store_;
  mutable std::mutex mutex_;
  std::string snapshot_ = "{}";
};

}  // namespace flor::dashboard
