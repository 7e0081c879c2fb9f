#include "gc/thin.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/checkpoint/listing.h"
#include "core/checkpoint/reader.h"
#include "core/checkpoint/recorded_timeline.h"
#include "core/files/json_lines.h"
#include "core/store/timeline.h"
#include "results/local_tier.h"
#include "results/report/summary.h"

namespace flor::gc {

using core::field;

namespace {

// Does the system refuse to read it now? It may be the newest checkpoint of a killed run, which no row names
// yet.
bool is_refused(const core::RunDir& run, const std::string& file) {
  try {
    core::Checkpoint::header_of(run, file);
  } catch (const core::Unreadable&) {
    return true;
  } catch (const core::Damage&) {
    return false;
  }
  return false;
}

}  // namespace

Inventory inventory_of(const core::RunDir& run) {
  const auto timeline = core::recorded_timeline(run);
  const results::LocalTier tier = results::local_tier_of(run, core::read_manifest(run), timeline);
  if (!tier.waiting.empty()) throw core::Error("run " + run.id() + ": " + results::local_tier_text(tier));
  std::set<std::string> kept;
  for (const auto* row : core::kept_checkpoints(timeline)) kept.insert(field<std::string>(*row, "file", ""));
  const auto present = core::checkpoint_files(run).files;
  std::set<std::string> unknown(present.begin(), present.end());
  Inventory out;
  std::set<std::string> referred;
  const auto refers_to = [&](const std::string& file) {
    auto files = core::referred_files(core::Checkpoint::header_of(run, file), file);
    referred.insert(files.begin(), files.end());
    return files;
  };
  // Go backwards: if a checkpoint was written more than once, its last row counts.
  for (auto row = timeline.rbegin(); row != timeline.rend(); ++row) {
    if (field<std::string>(*row, "kind", "") != "checkpoint") continue;
    const auto file = field<std::string>(*row, "file", "");
    if (unknown.erase(file) == 0) continue;
    out.stored.push_back({field<std::string>(*row, "block", ""), field<std::string>(*row, "at", ""), file,
                          refers_to(file), kept.count(file) == 0});
  }
  std::reverse(out.stored.begin(), out.stored.end());
  for (const auto& one : out.stored) {
    if (one.retired) unknown.insert(one.file);
  }
  for (const auto& file : unknown) {
    if (referred.count(file) == 0 && !is_refused(run, file)) out.useless.push_back(file);
  }
  return out;
}

void thin(const core::RunDir& run, const Inventory& inventory, const core::Thinning& removal) {
  const auto contains = [](const std::vector<std::string>& files, const std::string& file) {
    return std::find(files.begin(), files.end(), file) != files.end();
  };
  std::string rows;
  for (const auto& one : inventory.stored) {
    const bool held = contains(removal.retired, one.file);
    if (held || contains(removal.files, one.file))
      rows += core::removed_row(one.file, one.at, held).dump() + "\n";
  }
  if (!rows.empty()) {
    core::LineAppender timeline(run.timeline());
    timeline.append(rows);
    timeline.sync();
  }
  for (const auto* files : {&removal.files, &removal.orphans}) {
    for (const auto& file : *files) core::fs::remove(run.path / file);
  }
}

}  // namespace flor::gc
