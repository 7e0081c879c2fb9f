#include "commands/replay/proving.h"

#include <algorithm>

#include "core/store/proof.h"

namespace flor::commands {

std::vector<int64_t> proofs_missing(const core::ReplayDir& replay, const core::Plan& plan) {
  std::vector<int64_t> out;
  const auto first = static_cast<int64_t>(plan.units.size());
  for (int64_t id = first; id < first + plan.proofs; ++id) {
    std::error_code unseen;  // the file server may fail for a moment; then it is looked for again
    if (!core::fs::exists(replay.proof_rows(id), unseen)) out.push_back(id);
  }
  return out;
}

std::string proofs_text(const core::ReplayDir& replay, const core::Plan& plan) {
  std::string out;
  for (const int64_t id : proofs_missing(replay, plan)) {
    const auto proof = core::find_proof(replay, plan, id);
    if (!proof || proof->nothing()) continue;
    const core::Unit unit = core::unit_of(plan, *proof);
    out += (out.empty() ? "" : ", ") + std::to_string(unit.first) + " to " + std::to_string(unit.last);
  }
  return out;
}

std::map<int64_t, std::string> proof_errors(const core::Plan& plan, const queue::Status& status) {
  std::map<int64_t, std::string> out;
  for (const auto& segment : status.segments) {
    if (core::is_proof(plan, segment.cur) && !segment.error.empty()) out[segment.cur] = segment.error;
  }
  return out;
}

Request escalated(Request request, const core::Plan& plan, const results::Verdict& verdict) {
  const auto names = verdict.taken_back();
  request.forced.from_start = true;
  request.forced.why = "a proof unit contradicted rows that were replayed with blocks skipped";
  bool known = true;
  for (const auto& probe : plan.probes) {
    if (names.count(probe.name) == 0) continue;
    known = known && !probe.depends.empty();
    request.forced.blocks.insert(probe.depends.begin(), probe.depends.end());
  }
  for (const auto& name : names) {
    known = known && std::any_of(plan.probes.begin(), plan.probes.end(),
                                 [&](const auto& probe) { return probe.name == name; });
  }
  // It is not enough if a probe was contradicted although all these blocks had executed.
  const auto& blocks = request.forced.blocks;
  const bool enough = std::any_of(blocks.begin(), blocks.end(), [&](const auto& block) {
    return plan.complete || !plan.executes(block) || !plan.executes_in_lead_in(block);
  });
  request.forced.all = request.forced.all || !known || !enough;
  return request;
}

std::optional<Request> executing_more(Request request, const core::Plan& plan) {
  // A program that runs from its start, with every block executed, restores nothing.
  if (plan.execute_all && !plan.complete && plan.lead_in_all) return std::nullopt;
  // A proof may have asked for it before.
  request.forced.from_start = request.forced.from_start || plan.execute_all;
  request.forced.all = true;
  request.forced.why = "a replay lacked state that no checkpoint has";
  return request;
}

std::vector<std::string> contradictions(const results::Verdict& verdict) {
  std::vector<std::string> out;
  for (const auto& probe : verdict.probes) {
    if (!probe.taken_back) continue;
    const std::string line = results::describe(*probe.difference);
    if (std::find(out.begin(), out.end(), line) == out.end()) out.push_back(line);
  }
  return out;
}

}  // namespace flor::commands
