#include "export/choose.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/checkpoint/kinds.h"
#include "core/policy/retention.h"
#include "core/store/timeline.h"

namespace flor::exporting {
namespace {

using core::field;
using core::Json;

// A checkpoint inside an iteration of the main loop.
struct Candidate {
  int64_t epoch = 0;
  std::string inside;  // its path inside the iteration: train#0, step=3/optimize#0, @iteration
  Chosen checkpoint;
};

const core::RecordedLoop& main_loop(const core::Manifest& manifest) {
  if (manifest.main_loop() == nullptr)
    throw core::UsageError("run " + manifest.id + " recorded no loop, and so no checkpoint");
  return *manifest.main_loop();
}

// Returns the iteration of the main loop that a path lies in.
std::optional<int64_t> epoch_of(const std::string& at, const core::RecordedLoop& loop) {
  const auto elements = results::scope_elements(at);
  if (elements.empty() || !elements.front().loop || elements.front().name != loop.name) return std::nullopt;
  return elements.front().value;
}

std::vector<Candidate> candidates(const core::Manifest& manifest, const core::Timeline& timeline) {
  const core::RecordedLoop& loop = main_loop(manifest);
  std::vector<Candidate> out;
  for (const auto* row : core::kept_checkpoints(timeline)) {
    const auto at = field<std::string>(*row, "at", "");
    const auto epoch = epoch_of(at, loop);
    const auto slash = at.find('/');
    if (!epoch || slash == std::string::npos || core::is_loop_entry(at)) continue;
    out.push_back({*epoch,
                   at.substr(slash + 1),
                   {field<std::string>(*row, "file", ""), at, field<std::string>(*row, "block", ""),
                    field<std::string>(*row, "state", "")}});
  }
  return out;
}

std::string nearest(const std::vector<Candidate>& all, int64_t epoch) {
  std::set<int64_t> epochs;
  for (const auto& one : all) epochs.insert(one.epoch);
  std::string out;
  const auto above = epochs.upper_bound(epoch);
  if (above != epochs.begin()) out = std::to_string(*std::prev(above));
  if (above != epochs.end()) out += (out.empty() ? "" : " and ") + std::to_string(*above);
  return out;
}

}  // namespace

Chosen choose(const core::Manifest& manifest, const core::Timeline& timeline, int64_t epoch,
              const std::string& block) {
  std::vector<Candidate> all = candidates(manifest, timeline);
  const auto other = [&](const Candidate& one) {
    if (block.empty())
      return one.checkpoint.block == core::step_kind;  // a checkpoint between steps must be named
    return one.checkpoint.block != block && one.inside != block;
  };
  all.erase(std::remove_if(all.begin(), all.end(), other), all.end());
  std::vector<const Candidate*> here;
  for (const auto& one : all) {
    if (one.epoch == epoch) here.push_back(&one);
  }
  const std::string what = "run " + manifest.id + " has no checkpoint" +
                           (block.empty() ? "" : " of block " + block) + " at " + main_loop(manifest).name +
                           " " + std::to_string(epoch);
  if (here.empty()) {
    const std::string others = nearest(all, epoch);
    throw core::UsageError(what +
                           (others.empty() ? ", nor at any other" : "; the nearest with one: " + others));
  }
  for (const auto* one : here) {
    if (one->inside == core::iteration_kind || here.size() == 1) return one->checkpoint;
  }
  std::string names;
  for (const auto* one : here) names += (names.empty() ? "" : ", ") + one->inside;
  throw core::UsageError("run " + manifest.id + " has several checkpoints at " + main_loop(manifest).name +
                         " " + std::to_string(epoch) + "; choose one with --block: " + names);
}

Best best_epoch(const core::Manifest& manifest, const std::vector<results::Row>& rows,
                const std::string& name, bool largest) {
  const core::RecordedLoop& loop = main_loop(manifest);
  bool named = false;
  std::map<int64_t, double> values;  // the last row of each iteration
  for (const auto& row : rows) {
    if (row.name != name) continue;
    named = true;
    const auto epoch = epoch_of(row.at, loop);
    if (!epoch) continue;
    // NaN and infinities are strings in JSON. None of them can be the best.
    values[*epoch] = row.value.is_number() ? row.value.get<double>() : std::nan("");
  }
  std::optional<Best> best;
  for (const auto& [epoch, value] : values) {
    if (!std::isfinite(value)) continue;
    if (!best || (largest ? value > best->value : value < best->value)) best = Best{epoch, value};
  }
  if (best) return *best;
  throw core::UsageError("run " + manifest.id +
                         (named ? " logged no number as " + name + " inside of its loop " + loop.name
                                : " logged nothing named " + name) +
                         "; flor log " + manifest.id + " shows its rows");
}

}  // namespace flor::exporting
