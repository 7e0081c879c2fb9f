#include "commands/replay/show_replay.h"

#include "commands/base/options.h"
#include "commands/base/output.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/printable.h"
#include "core/store/plan.h"
#include "results/messages.h"
#include "results/report/summary.h"
#include "results/report/table.h"
#include "results/verdict/verdict.h"
#include "results/work.h"

namespace flor::commands {
namespace {

using core::Json;
using results::Table;

std::string heading(const core::RunDir& run, const core::Plan& plan, const results::ReplaySummary& replay) {
  std::string out = "replay " + replay.id + " of run " + run.id() + ": " + replay.state;
  if (replay.verdict) {
    const auto& verdict = *replay.verdict;
    out += ", " + std::to_string(verdict.values) + " values and " + std::to_string(verdict.digests) +
           " states compared in " + counted(verdict.units.size(), "unit") + ", " +
           shown_seconds(verdict.seconds);
  } else {
    out += ", " + std::to_string(replay.committed) + " of " +
           counted(static_cast<std::size_t>(replay.selected), "unit") + " committed";
  }
  out += "\nplanned: at least " + shown_seconds(plan.bound) + ", " + shown_seconds(plan.makespan) + " with " +
         counted(plan.segments.size(), "segment") + ", " + shown_seconds(plan.serial) + " in sequence\n";
  if (!replay.failure.empty()) out += "reason: " + core::printable(replay.failure) + "\n";
  return out;
}

std::string question_text(const core::Plan& plan) {
  std::string blocks;
  for (const auto& block : plan.execute) blocks += (blocks.empty() ? "" : ", ") + block;
  std::string out = "executes: " +
                    (plan.execute_all ? "every block"
                     : blocks.empty() ? "no block"
                                      : blocks) +
                    "\n";
  for (const auto& probe : plan.probes) {
    out += "probe: " + (probe.name.empty() ? std::string("(name not known)") : probe.name) + " (" +
           probe.file + ":" + std::to_string(probe.line) +
           (probe.block.empty() ? ", outside all blocks" : ", in block " + probe.block) + ")\n";
  }
  if (plan.proofs > 0) out += "proof units: at most " + std::to_string(plan.proofs) + "\n";
  for (const auto& reason : plan.reasons) out += "because: " + core::printable(reason) + "\n";
  return out;
}

std::string units_text(const core::Plan& plan, const results::Verdict& verdict) {
  Table table({{"UNIT", true},
               {"FIRST", true},
               {"LAST", true},
               {"VALUES", true},
               {"DIGESTS", true},
               {"EQUAL", true},
               {"EXECUTED", true},
               {"SKIPPED", true},
               {""}});
  for (const auto& unit : verdict.units) {
    const bool known = 0 <= unit.id && unit.id < static_cast<int64_t>(plan.units.size());
    const core::Unit planned = known ? plan.units[static_cast<std::size_t>(unit.id)] : core::Unit{};
    table.add({std::to_string(unit.id), std::to_string(planned.first), std::to_string(planned.last),
               std::to_string(unit.values), std::to_string(unit.digests), std::to_string(unit.equal),
               std::to_string(unit.executed), std::to_string(unit.skipped),
               unit.is_equal() ? "" : "differs"});
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string findings_text(const results::Verdict& verdict) {
  std::string out;
  for (const auto& reason : verdict.reasons) out += core::printable(reason) + "\n";
  for (const auto& difference : verdict.differences) {
    out += "differs: " + core::printable(results::describe(difference)) + "\n";
  }
  for (const auto& entry : verdict.environment) {
    out += "environment: " + core::printable(results::describe(entry)) + "\n";
  }
  for (const auto& probe : verdict.probes)
    out += "probe " + probe.name + ": " + core::printable(describe(probe)) + "\n";
  for (const auto& name : verdict.silent_probes) {
    out += "warning: the probe '" + name + "' yielded no row: was it reached?\n";
  }
  return out.empty() ? "" : "\n" + out;
}

std::string messages_text(const std::vector<results::Message>& messages) {
  std::string out;
  for (const auto& message : messages)
    out += results::time_text(message.time) + "  " + core::printable_lines(message.text) + "\n";
  return out.empty() ? "" : "\nwhat flor replay said:\n" + out;
}

core::ReplayDir find_replay(const core::RunDir& run, const std::string& id) {
  core::ReplayDir dir = run.replay(id);
  if (core::fs::exists(dir.plan())) return dir;
  throw core::UsageError("run " + run.id() + " has no replay '" + id + "'; `flor show " + run.id() +
                         "` lists them");
}

}  // namespace

Json replay_json(const core::RunDir& run, const std::string& id) {
  const core::ReplayDir dir = find_replay(run, id);
  const core::Plan plan = core::read_plan(dir);
  const auto replay = results::summarize_replay(dir, core::read_manifest(run).attempt, plan);
  Json out = results::to_json(replay);
  out["plan"] = core::to_json(plan);
  const auto work = results::read_work(dir);
  const bool is_going_on = !replay.verdict && replay.failure.empty() && results::goes_on(dir);
  const auto now = is_going_on ? std::optional(core::wall_seconds()) : std::nullopt;
  const auto totals = results::totals_of(work, plan, now);
  out["work"] = results::to_json(work, totals);
  out["work"]["now"] = now ? Json(*now) : Json();
  out["messages"] = results::to_json(results::read_messages(dir));
  out["verdict"] = replay.verdict ? results::to_json(*replay.verdict) : Json();
  return out;
}

void show_replay(const core::RunDir& run, const std::string& id, bool json) {
  if (json) {
    print_json(replay_json(run, id));
    return;
  }
  const core::ReplayDir dir = find_replay(run, id);
  const core::Plan plan = core::read_plan(dir);
  const auto replay = results::summarize_replay(dir, core::read_manifest(run).attempt, plan);
  std::string text = heading(run, plan, replay) + question_text(plan);
  if (replay.verdict) text += units_text(plan, *replay.verdict) + findings_text(*replay.verdict);
  text += messages_text(results::read_messages(dir));
  print(text);
}

}  // namespace flor::commands
