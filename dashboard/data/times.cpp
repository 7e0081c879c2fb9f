#include "dashboard/data/times.h"

#include <algorithm>
#include <cmath>

#include "core/base/clock.h"
#include "core/store/manifest.h"
#include "dashboard/data/signature.h"
#include "results/rows/where.h"

namespace flor::dashboard {
namespace {

constexpr std::size_t most_timelines = 8;

// The numbers of the name's rows in one iteration, in order.
using ByIteration = std::map<int64_t, std::vector<double>>;

ByIteration by_iteration(const std::vector<results::Row>& rows, const std::string& name,
                         const std::string& loop) {
  ByIteration out;
  for (const auto* row : rows_of_name(rows, name)) {
    const auto loops = results::scope_loops(row->at);
    if (loops.empty() || loops.front().first != loop) continue;
    out[loops.front().second].push_back(results::number_in(*row).value_or(std::nan("")));
  }
  return out;
}

}  // namespace

Times times_of(const core::Timeline& timeline, const std::string& main_loop) {
  std::map<int64_t, double> seconds;
  for (const auto& row : timeline) {
    if (core::field<std::string>(row, "kind", "") != "iteration" ||
        core::field<std::string>(row, "loop", "") != main_loop)
      continue;
    seconds[core::field<int64_t>(row, "value", 0)] = core::field<double>(row, "seconds", 0);
  }
  Times out{main_loop, {}};
  double now = 0;
  for (const auto& [value, took] : seconds) {
    out.iterations[value] = {now, now + took};
    now += took;
  }
  return out;
}

Series series_by_time(const std::vector<results::Row>& rows, const std::string& name, const Times& times) {
  Series out;
  const auto values = by_iteration(rows, name, times.loop);
  for (const auto& [iteration, span] : times.iterations) {
    const auto found = values.find(iteration);
    if (found == values.end()) {
      if (out.x.empty()) continue;
      out.x.push_back(span.end);
      out.y.push_back(std::nan(""));
      continue;
    }
    const auto count = static_cast<double>(found->second.size());
    for (std::size_t i = 0; i < found->second.size(); ++i) {
      out.x.push_back(span.begin + (span.end - span.begin) * static_cast<double>(i + 1) / count);
      out.y.push_back(found->second[i]);
    }
  }
  return out;
}

std::shared_ptr<const Times> TimesCache::times_of(const core::RunDir& run) {
  const std::string signature = signature_of(run);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto& kept : kept_) {
    // A timeline that grows is read again for a fourth of the time at most.
    const bool is_young = core::monotonic_seconds() - kept.read_at < 3 * kept.took;
    if (kept.run != run.id() || (kept.signature != signature && !is_young)) continue;
    std::rotate(&kept, &kept + 1, kept_.data() + kept_.size());
    return kept_.back().times;
  }
  const double began = core::monotonic_seconds();
  const core::Manifest manifest = core::read_manifest_and_progress(run);
  const core::RecordedLoop* loop = manifest.main_loop();
  auto times = std::make_shared<const Times>(
      loop == nullptr ? Times{} : dashboard::times_of(core::read_timeline(run.timeline()), loop->name));
  kept_.erase(
      std::remove_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.run == run.id(); }),
      kept_.end());
  const double now = core::monotonic_seconds();
  kept_.push_back({run.id(), signature, times, now, now - began});
  if (kept_.size() > most_timelines) kept_.erase(kept_.begin());
  return times;
}

}  // namespace flor::dashboard
