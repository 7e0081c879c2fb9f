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

// Answers a monitoring system from a snapshot and from the files of replays. Thread-safe.
class Metrics {
 public:
  explicit Metrics(core::Store store) : store_(std::move(store)) {}

  // `snapshot`: the text of Runs::snapshot(). Reads the replays that go on, for at most ten seconds; leaves
  // out the rest, and those that cannot be read. A call during another one gets the text of the last one, and
  // without one a text without replays, so that one handler at most is busy with it.
  std::string text(const std::string& snapshot) const;

 private:
  std::vector<ReplayUnderWay> replays_of(const core::Json& snapshot) const;

  const core::Store store_;
  mutable std::mutex reading_;  // held by the call that reads; taken before mutex_
  mutable std::mutex mutex_;
  mutable std::string last_;
};

}  // namespace flor::dashboard
