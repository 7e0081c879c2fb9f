#include "results/policy_text.h"

#include <optional>

#include "core/bytes_text.h"
#include "core/policy.h"
#include "results/table.h"

namespace flor::results {
namespace {

using core::field;
using core::Json;

struct Decided {
  std::string at, block, decision, why;
  double C = 0, M = 0, c = 0, credit = 0, stall = 0;
  int64_t n = 0, k = 0;  // with this execution; checkpoints before it
  std::uint64_t bytes = 0;
  double allowed = 0;  // equation 4: n / (k + 1) · min(1 / (1 + c), ε)

  double ratio() const { return C > 0 ? M / C : 0; }
};

std::optional<Decided> decided_from(const Json& row, double epsilon) {
  if (field<std::string>(row, "kind", "") != "block") return std::nullopt;
  Decided out;
  out.at = field<std::string>(row, "at", "");
  out.block = field<std::string>(row, "block", "");
  out.decision = field<std::string>(row, "decision", "");
  out.why = field<std::string>(row, "why", "");
  out.C = field(row, "seconds", 0.0);
  out.M = field(row, "M", 0.0);
  out.c = field(row, "c", 0.0);
  out.credit = field(row, "credit", 0.0);
  out.stall = field(row, "stall", 0.0);
  out.n = field<int64_t>(row, "n", 0);
  out.k = field<int64_t>(row, "k", 0) - (out.decision == "materialize" ? 1 : 0);
  out.bytes = field<std::uint64_t>(row, "bytes", 0);
  out.allowed = static_cast<double>(out.n) / static_cast<double>(out.k + 1) * core::allowance(out.c, epsilon);
  return out;
}

std::vector<Decided> decisions(const core::Manifest& manifest, const std::vector<Json>& timeline) {
  std::vector<Decided> out;
  for (const auto& row : timeline) {
    if (auto decided = decided_from(row, manifest.epsilon)) out.push_back(std::move(*decided));
  }
  return out;
}

}  // namespace

std::string policy_table(const core::Manifest& manifest, const std::vector<Json>& timeline) {
  Table table({{"AT"},
               {"C", true},
               {"M", true},
               {"M/C", true},
               {"ALLOWED", true},
               {"n", true},
               {"k", true},
               {"c", true},
               {"CREDIT", true},
               {"STALL", true},
               {"BYTES", true},
               {"DECISION"},
               {"WHY"}});
  for (const auto& row : decisions(manifest, timeline)) {
    table.add({row.at, cost_text(row.C), cost_text(row.M), short_number(row.ratio()),
               short_number(row.allowed), std::to_string(row.n), std::to_string(row.k), short_number(row.c),
               cost_text(row.credit), cost_text(row.stall), core::bytes_text(row.bytes), row.decision,
               row.why});
  }
  return table.text();
}

std::string explain_last(const core::Manifest& manifest, const std::vector<Json>& timeline) {
  const auto all = decisions(manifest, timeline);
  if (all.empty()) return "";
  const Decided& last = all.back();
  const std::string verb = last.decision == "materialize" ? "was checkpointed"
                           : last.decision == "failed"    ? "was to be checkpointed, and that failed"
                                                          : "was not checkpointed";
  return "At " + last.at + ", execution " + std::to_string(last.n) + " of " + last.block + " " + verb + ": " +
         last.why + ". It computed for " + cost_text(last.C) + "; a checkpoint of its " +
         core::bytes_text(last.bytes) + " was expected to cost training " + cost_text(last.M) + ", with " +
         cost_text(last.credit) + " to spend. Equation 4 compares M/C = " + short_number(last.ratio()) +
         " with n/(k+1) * min(1/(1+c), epsilon) = " + short_number(last.allowed) +
         " (n = " + std::to_string(last.n) + ", k = " + std::to_string(last.k) +
         ", c = " + short_number(last.c) + ", epsilon = " + short_number(manifest.epsilon) + ").";
}

Json policy_json(const core::Manifest& manifest, const std::vector<Json>& timeline) {
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
                   {"credit", row.credit},
                   {"stall", row.stall},
                   {"bytes", row.bytes},
                   {"decision", row.decision},
                   {"why", row.why}});
  }
  return out;
}

}  // namespace flor::results
