#include "commands/replay/dry_run.h"

#include <algorithm>
#include <string>
#include <vector>

#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/sources/probes_report.h"
#include "core/base/error.h"
#include "plan/forecast.h"
#include "plan/units.h"
#include "queue/share.h"
#include "results/report/table.h"
#include "results/results.h"
#include "results/work.h"

namespace flor::commands {
namespace {

using core::Json;

// Returns the times of earlier replays of the run.
std::vector<plan::Experience> experience_with(const core::RunDir& run) {
  std::vector<plan::Experience> out;
  for (const auto& replay : run.all_replays()) {
    try {
      const auto verdict = results::read_verdict(replay);
      if (!verdict) continue;
      const core::Plan plan = core::read_plan(replay);
      const double worked = results::totals_of(results::read_work(replay), plan, std::nullopt).elapsed;
      const double start = worked > 0 ? std::max(0.0, verdict->seconds - worked) : 0;
      out.push_back({plan.makespan, verdict->seconds, start});
    } catch (const std::exception&) {
      // Skip a replay that is damaged or cannot be read.
    }
  }
  return out;
}

std::string range_text(double low, double high) {
  const std::string from = shown_seconds(low);
  const std::string to = shown_seconds(high);
  return from == to ? from : from + " to " + to;
}

struct Findings {
  std::size_t workers = 1;
  std::string launcher;
  std::vector<plan::Forecast> forecasts;
  std::vector<std::string> advice;
};

std::string text_of(const Asked& asked, const Findings& found) {
  const core::Plan& plan = asked.plan;
  std::string out =
      "run " + plan.run + ": " + std::to_string(plan.selected.size()) + " of " +
      counted(plan.units.size(), "unit") + " (epochs " + plan::range_of(plan.units) + "), entered by " +
      (plan.complete ? "restoring a checkpoint" : "running from the start with blocks skipped") + "\n";
  for (const auto& reason : plan.reasons) out += "  " + reason + "\n";
  const probes::ProbeAnalysis analysis = analysis_of(plan);
  for (const auto& log : analysis.logs) out += commands::text_of(analysis, log, 2);
  results::Table table({{"workers", true}, {"estimate", true}, {"at best", true}, {""}});
  for (const auto& one : found.forecasts) {
    const bool now = one.workers == found.workers;
    table.add({std::to_string(one.workers), range_text(one.low, one.high), shown_seconds(one.bound),
               now ? "would run now (" + found.launcher + ")" : ""});
  }
  out += table.text(2);
  if (plan.proofs > 0) {
    out += "  and at most " + counted(static_cast<std::size_t>(plan.proofs), "proof unit") + ", about " +
           shown_seconds(static_cast<double>(plan.proofs) * queue::proof_cost(plan)) +
           " of work, behind all others\n";
  }
  for (const auto& line : found.advice) out += "  faster: " + line + "\n";
  return out;
}

Json json_of(const Asked& asked, const Findings& found) {
  Json forecasts = Json::array();
  for (const auto& one : found.forecasts)
    forecasts.push_back(
        {{"workers", one.workers}, {"bound", one.bound}, {"low", one.low}, {"high", one.high}});
  return {{"run", asked.plan.run},
          {"units", asked.plan.units.size()},
          {"selected", asked.plan.selected.ranges()},
          {"complete", asked.plan.complete},
          {"execute_all", asked.plan.execute_all},
          {"execute", asked.plan.execute},
          {"probes", to_json(analysis_of(asked.plan))["probes"]},
          {"proofs", asked.plan.proofs},
          {"reasons", asked.plan.reasons},
          {"launcher", found.launcher},
          {"workers", found.workers},
          {"forecasts", forecasts},
          {"advice", found.advice}};
}

}  // namespace

void dry_run(const core::Store& store, const Asked& asked, std::optional<std::size_t> workers,
             const WorkplaceFlags& flags, bool json) {
  const FreePlaces free = free_places(store, asked, flags);
  for (const auto& note : free.notes) print_error(note);
  Findings found;
  found.launcher = free.launcher;
  found.workers = std::min(workers.value_or(free.workers), asked.plan.selected.size());
  found.forecasts =
      plan::forecast(asked.plan, plan::worker_counts(asked.plan, found.workers), experience_with(asked.run));
  found.advice = plan::advice(asked.plan, found.workers);
  if (json) {
    print_json(json_of(asked, found));
  } else {
    print(text_of(asked, found));
  }
}

}  // namespace flor::commands
