#include "export/tensorboard.h"

#include <algorithm>
#include <exception>

#include "core/events/event_records.h"
#include "core/events/live_events.h"
#include "core/files/durable.h"

namespace flor::exporting {
namespace {

using results::Row;

constexpr std::size_t at_once = std::size_t{1} << 20;

std::filesystem::path file_in(const std::filesystem::path& directory, const core::Manifest& manifest) {
  return directory /
         ("events.out.tfevents." + std::to_string(static_cast<int64_t>(manifest.started)) + ".flor");
}

}  // namespace

RunEvents::RunEvents(const core::RunDir& run, const core::Manifest& manifest,
                     const std::filesystem::path& directory)
    : started_(manifest.started), file_(file_in(directory, manifest), manifest.started), events_(run.path) {
  const core::RecordedLoop* loop = manifest.main_loop();
  if (loop == nullptr || loop->iterations == 0) return;
  main_loop_ = loop->name;
  main_begin_ = loop->begin;
  iteration_ = loop->seconds / static_cast<double>(loop->iterations);
}

void RunEvents::append(const std::vector<Row>& rows, core::EventSteps& steps) {
  std::string records;
  for (const auto& row : rows) {
    const core::ScopeLoops loops = core::scope_loops(row.at);
    events_.add(records, row.name, row.value, {time_of(loops), steps.step_of(loops, row.name)});
    if (records.size() < at_once) continue;
    file_.append(records);
    records.clear();
  }
  file_.append(records);
}

double RunEvents::time_of(const core::ScopeLoops& loops) const {
  if (loops.empty() || loops[0].first != main_loop_) return started_;
  return started_ + iteration_ * static_cast<double>(loops[0].second - main_begin_ + 1);
}

std::size_t sort_for_tensorboard(results::JoinedRows& joined, core::EventSteps& steps) {
  for (const auto& row : joined.rows) steps.learn(core::scope_loops(row.at));
  const auto added = std::stable_partition(joined.rows.begin(), joined.rows.end(), [&](const Row& row) {
    return joined.recorded.count(row.name) != 0;
  });
  return static_cast<std::size_t>(added - joined.rows.begin());
}

std::string write_replayed_events(const core::RunDir& run) {
  if (!core::wants_events()) return "";
  try {
    const core::Manifest manifest = core::read_manifest_and_progress(run);
    results::JoinedRows joined = results::read_joined(run, manifest);
    core::EventSteps steps;
    const auto added = static_cast<std::ptrdiff_t>(sort_for_tensorboard(joined, steps));
    if (joined.rows.begin() + added == joined.rows.end()) return "";
    core::create_directories_durably(run.replayed_events());
    RunEvents(run, manifest, run.replayed_events())
        .append({joined.rows.begin() + added, joined.rows.end()}, steps);
    return "";
  } catch (const std::exception& problem) {
    return problem.what();
  }
}

}  // namespace flor::exporting
