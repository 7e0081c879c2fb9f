#include "commands/replay/replay_reuse.h"

#include <algorithm>
#include <functional>

#include "core/base/error.h"
#include "core/files/durable.h"
#include "gc/runs.h"
#include "plan/partition.h"
#include "results/results.h"

namespace flor::commands {
namespace {

namespace fs = std::filesystem;

using Verdict = std::optional<results::Verdict>;

// Returns the replays whose plan fulfils `such` and whose verdict (nullopt: none yet) fulfils `judged`, the
// newest first.
std::vector<core::ReplayDir> replays_where(const core::RunDir& run,
                                           const std::function<bool(const core::Plan&)>& such,
                                           const std::function<bool(const Verdict&)>& judged) {
  std::vector<core::ReplayDir> out;
  for (const auto& replay : run.all_replays()) {
    try {
      if (such(core::read_plan(replay)) && judged(results::read_verdict(replay))) out.push_back(replay);
    } catch (const core::Error&) {
      // Skip a replay whose plan or verdict is damaged.
    }
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::optional<core::ReplayDir> first_of(const std::vector<core::ReplayDir>& replays) {
  return replays.empty() ? std::nullopt : std::optional(replays.front());
}

bool is_proved(const Verdict& verdict) {
  return verdict && verdict->judgement == results::Judgement::identical;
}

// Returns true if the replay has as many proof units as the question wants.
bool proves_enough(const core::Plan& plan, const Asked& asked) {
  if (plan.brief && !asked.plan.brief) return false;
  return plan.proofs >= (asked.prove_exactly ? asked.plan.proofs : std::min<int64_t>(asked.plan.proofs, 1));
}

// Returns true if the units do not differ from the record, and no proof contradicts their rows. There need
// not be a proof.
bool is_sound(const Verdict& verdict) {
  return verdict && verdict->judgement != results::Judgement::differs && verdict->taken_back().empty();
}

bool is_whole(const core::ReplayDir& replay, const core::Unit& unit) {
  try {
    results::parse_unit(core::read_file(replay.unit(unit.id)), unit, "");
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// Returns the plan with segments for the missing units only. Its selection stays the one of the question.
core::Plan cut_for(const Asked& asked, const core::ReplayDir& replay, std::size_t workers) {
  core::Plan plan = asked.plan;
  const auto done = units_done(replay, plan);
  plan.selected = {};
  for (const int64_t id : asked.plan.selected.ids()) {
    if (!std::binary_search(done.begin(), done.end(), id)) plan.selected.add(id);
  }
  plan::cut(plan, workers);
  plan.selected = asked.plan.selected;
  plan.replay = replay.id();
  return plan;
}

}  // namespace

core::Presence lock_planning(const core::RunDir& run) {
  // `flor gc` holds this lock while it renames and removes the run. So check the run before and after taking
  // it.
  const auto gone = [&] { return core::Error("run " + run.id() + " has just been removed"); };
  if (!core::fs::exists(run.manifest())) throw gone();
  core::create_directories_durably(run.replays());
  auto lock = core::Presence::take(gc::planning_lock(run));
  if (!core::fs::exists(run.manifest())) throw gone();
  return lock;
}

std::optional<core::ReplayDir> unfinished(const Asked& asked) {
  return first_of(replays_where(
      asked.run,
      [&](const core::Plan& plan) {
        return plan.question == asked.plan.question && proves_enough(plan, asked);
      },
      [](const Verdict& verdict) { return !verdict; }));
}

std::optional<core::ReplayDir> answered(const Asked& asked) {
  return first_of(replays_where(
      asked.run,
      [&](const core::Plan& plan) {
        return plan.question == asked.plan.question && proves_enough(plan, asked);
      },
      is_proved));
}

std::optional<core::ReplayDir> contradicted(const Asked& asked) {
  return first_of(replays_where(
      asked.run, [&](const core::Plan& plan) { return plan.question == asked.plan.question; },
      [](const Verdict& verdict) {
        return verdict && verdict->judgement == results::Judgement::unproved &&
               !verdict->taken_back().empty();
      }));
}

std::size_t adopt_units(const Asked& asked, const core::ReplayDir& replay) {
  core::create_directories_durably(replay.units());
  const auto earlier = replays_where(
      asked.run, [&](const core::Plan& plan) { return plan.recipe == asked.plan.recipe; }, is_sound);
  for (const auto& one : earlier) {
    for (const int64_t id : units_done(one, asked.plan)) {
      std::error_code ignored;  // a unit that cannot be linked is executed
      if (is_whole(one, asked.plan.units.at(static_cast<std::size_t>(id))))
        fs::create_hard_link(one.unit(id), replay.unit(id), ignored);
    }
  }
  core::sync_directory(replay.units());
  return units_done(replay, asked.plan).size();
}

core::Plan publish(const Asked& asked, const core::ReplayDir& replay, std::size_t workers) {
  if (fs::exists(replay.plan())) return core::read_plan(replay);
  core::Plan out = cut_for(asked, replay, workers);
  core::create_directories_durably(replay.units());
  core::create_directories_durably(replay.workers());
  const std::string text =
      core::to_json(out).dump(1, ' ', false, core::Json::error_handler_t::replace) + "\n";
  if (core::publish_once(replay.plan(), text) == core::Published::different) return core::read_plan(replay);
  return out;
}

}  // namespace flor::commands
