#include "results/report/policy_text.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/units_text.h"
#include "core/policy/policy.h"
#include "results/report/table.h"

namespace flor::results {
namespace {

using core::field;
using core::Json;

struct Decided {
  std::string at, block, decision, why;
  double C = 0, M = 0, c = 0, stall = 0;
  int64_t n = 0, k = 0;  // executions with this one; checkpoints before it
  std::uint64_t bytes = 0, copied = 0;
  double g = 0;
  double allowed = 0;                 // equation 4: n / (k + 1) · g
  double credit = 0;                  // seconds that this kind of checkpoint may still cost
  std::optional<double> run, window;  // the same for the run, and for windows of 20 executions
  std::optional<double> interval;     // W
  double since = 0;                   // seconds computed since the last checkpoint of this kind

  double ratio() const { return C > 0 ? M / C : 0; }
};

std::optional<double> number(const core::TimelineRow& row, const char* key) {
  const double value = field(row, key, std::nan(""));
  return std::isnan(value) ? std::nullopt : std::optional<double>(value);
}

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

std::optional<Decided> decided_from(const core::TimelineRow& row, double epsilon) {
  if (field<std::string>(row, "kind", "") != "block") return std::nullopt;
  Decided out;
  out.at = field<std::string>(row, "at", "");
  out.block = field<std::string>(row, "block", "");
  out.decision = field<std::string>(row, "decision", "");
  out.why = field<std::string>(row, "why", "");
  out.C = field(row, "seconds", 0.0);
  out.M = field(row, "M", 0.0);
  out.c = field(row, "c", 0.0);
  out.g = core::allowance(out.c, epsilon);
  out.credit = field(row, "credit", 0.0);
  out.stall = field(row, "stall", 0.0);
  out.n = field<int64_t>(row, "n", 0);
  out.k = field<int64_t>(row, "k", 0) - (out.decision == "materialize" ? 1 : 0);
  out.bytes = field<std::uint64_t>(row, "bytes", 0);
  out.copied = field<std::uint64_t>(row, "copied", out.bytes);
  out.allowed = static_cast<double>(out.n) / static_cast<double>(out.k + 1) * out.g;
  out.run = number(row, "run");
  out.window = number(row, "window");
  out.interval = number(row, "interval");
  out.since = field(row, "since", 0.0);
  return out;
}

std::vector<Decided> decisions(const core::Manifest& manifest, const core::Timeline& timeline) {
  std::vector<Decided> out;
  for (const auto& row : timeline) {
    if (auto decided = decided_from(row, manifest.epsilon)) out.push_back(std::move(*decided));
  }
  return out;
}

std::string what_happened(const Decided& last) {
  const std::string verb = last.decision == "materialize" ? "was checkpointed"
                           : last.decision == "failed"    ? "was to be checkpointed, which failed"
                                                          : "was not checkpointed";
  return "At " + last.at + ", " +
         (last.n > 0 ? "execution " + std::to_string(last.n) + " of " + last.block : "the loop's entry") +
         " " + verb + ": " + last.why;
}

std::string what_it_costs(const Decided& last) {
  return "a checkpoint that copies " + core::bytes_text(last.copied) + " of its " +
         core::bytes_text(last.bytes) + " was expected to cost training M = " + cost_text(last.M);
}

std::string what_equation_4_says(const Decided& last, double epsilon) {
  return "equation 4 compares M/C = " + short_number(last.ratio()) +
         " with n/(k+1) * g = " + short_number(last.allowed) + " (C = " + cost_text(last.C) +
         ", n = " + std::to_string(last.n) + ", k = " + std::to_string(last.k) +
         ", c = " + short_number(last.c) + ", g = min(1/(1+c), epsilon) = " + short_number(last.g) +
         ", epsilon = " + short_number(epsilon) + ")";
}

std::string what_is_left(const Decided& last, double epsilon) {
  std::string out = "left to spend had this kind of checkpoint " + cost_text(last.credit);
  if (!last.run) return out;
  out += ", the run " + cost_text(*last.run) + ", and windows of 20 executions ";
  out += last.window ? cost_text(*last.window)
                     : "less than even one costs, so that only the run's promise counts";
  // An expensive checkpoint delays later ones, however cheap they have become: epsilon limits what was paid.
  if (*last.run < 0) {
    out += "; what earlier checkpoints cost beyond epsilon is paid back by " +
           cost_text(-*last.run / epsilon) + " of computing, however cheap the next one is";
  }
  return out;
}

std::string what_recovery_wants(const Decided& last, const core::Manifest& manifest) {
  if (!last.interval || !manifest.mtbf) return "";
  return "; with a mean time between failures of " + cost_text(*manifest.mtbf) +
         ", recovery wants one every " + cost_text(*last.interval) + " of computing, and " +
         cost_text(last.since) + " were since the last";
}

}  // namespace

std::string policy_table(const core::Manifest& manifest, const core::Timeline& timeline) {
  Table table({{"AT"},
               {"C", true},
               {"M", true},
               {"M/C", true},
               {"ALLOWED", true},
               {"n", true},
               {"k", true},
               {"c", true},
               {"CREDIT", true},
               {"RUN", true},
               {"WINDOW", true},
               {"STALL", true},
               {"BYTES", true},
               {"COPIED", true},
               {"DECISION"},
               {"WHY"}});
  const auto text = [](const std::optional<double>& seconds) { return seconds ? cost_text(*seconds) : "-"; };
  for (const auto& row : decisions(manifest, timeline)) {
    table.add({row.at, cost_text(row.C), cost_text(row.M), short_number(row.ratio()),
               short_number(row.allowed), std::to_string(row.n), std::to_string(row.k), short_number(row.c),
               cost_text(row.credit), text(row.run), text(row.window), cost_text(row.stall),
               core::bytes_text(row.bytes), core::bytes_text(row.copied), row.decision, row.why});
  }
  return table.text();
}

std::vector<Explained> explain_last(const core::Manifest& manifest, const core::Timeline& timeline) {
  std::vector<Explained> out;
  for (const auto& row : decisions(manifest, timeline)) {
    auto kind =
        std::find_if(out.begin(), out.end(), [&](const auto& known) { return known.block == row.block; });
    if (kind == out.end()) kind = out.insert(out.end(), Explained{row.block, ""});
    kind->sentence = what_happened(row) + "; " + what_it_costs(row) + "; " +
                     what_equation_4_says(row, manifest.epsilon) + "; " +
                     what_is_left(row, manifest.epsilon) + what_recovery_wants(row, manifest) + ".";
  }
  return out;
}

Json policy_json(const core::Manifest& manifest, const core::Timeline& timeline) {
  Json out = Json::array();
  for (const auto& row : decisions(manifest, timeline)) {
    out.push_back({{"at", row.at},
                   {"block", row.block},
                   {"seconds", row.C},
                   {"M", row.M},
                   {"ratio", row.ratio()},
                   {"allowed", row.allowed},
                   {"n", row.n},
                   {"k", row.k},
                   {"c", row.c},
                   {"g", row.g},
                   {"credit", row.credit},
                   {"run", or_null(row.run)},
                   {"window", or_null(row.window)},
                   {"interval", or_null(row.interval)},
                   {"since", row.since},
                   {"stall", row.stall},
                   {"bytes", row.bytes},
                   {"copied", row.copied},
                   {"decision", row.decision},
                   {"why", row.why}});
  }
  return out;
}

}  // namespace flor::results
