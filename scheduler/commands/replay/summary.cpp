#include "commands/replay/summary.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <vector>

#include "commands/base/exit_code.h"
#include "commands/base/options.h"
#include "core/store/proof.h"

namespace flor::commands {
namespace {

using core::field;

constexpr std::size_t kDifferences = 5;
constexpr std::size_t kReasons = 12;
constexpr double kWorthComparing = 0.5;  // seconds; to start a process takes as long as a shorter replay

std::string times(double factor) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", factor);
  return text.data();
}

// Returns "0, 3-5, 11".
std::string ranges(const std::vector<int64_t>& units) {
  std::string out;
  for (std::size_t k = 0; k < units.size();) {
    std::size_t end = k;
    while (end + 1 < units.size() && units[end + 1] == units[end] + 1) ++end;
    out += (out.empty() ? "" : ", ") + std::to_string(units[k]);
    if (end > k) out += "-" + std::to_string(units[end]);
    k = end + 1;
  }
  return out;
}

void add(std::vector<std::string>& lines, const std::string& line) {
  lines.push_back("  " + line);
}

void add_workers(std::vector<std::string>& lines, const results::Verdict& verdict) {
  for (const auto& worker : verdict.workers) {
    const auto units = field<std::vector<int64_t>>(worker, "units", {});
    std::string line = "worker " + field<std::string>(worker, "worker", "");
    const auto node = field<std::string>(worker, "node", "");
    const auto job = field<std::string>(worker, "job", "");
    const auto task = field<std::string>(worker, "task", "");
    if (!node.empty()) line += " on " + node;
    if (!job.empty()) line += ", job " + job + (task.empty() ? "" : " task " + task);
    line += units.empty() ? ": no unit" : (units.size() == 1 ? ": unit " : ": units ") + ranges(units);
    add(lines, line);
  }
}

void add_time(std::vector<std::string>& lines, const core::Plan& plan, const results::Verdict& verdict,
              bool whole) {
  if (verdict.seconds <= 0) return;
  std::string line = "took " + shown_seconds(verdict.seconds);
  if (whole && plan.serial >= kWorthComparing) {
    line += "; by the recorded times one worker alone would take " + shown_seconds(plan.serial);
    if (plan.serial > verdict.seconds) line += ", " + times(plan.serial / verdict.seconds) + " times as long";
    if (plan.bound > 0) {
      line += " (at best " + times(plan.serial / plan.bound) + " times with " +
              counted(plan.workers, "worker") + ")";
    }
  }
  add(lines, line);
}

void add_reasons(std::vector<std::string>& lines, const core::Plan& plan) {
  for (std::size_t k = 0; k < plan.reasons.size(); ++k) {
    if (k == kReasons) {
      add(lines,
          "… and " + std::to_string(plan.reasons.size() - k) + " more reasons (flor show " + plan.run + ")");
      return;
    }
    add(lines, plan.reasons[k]);
  }
}

std::string words(const std::vector<std::string>& command) {
  std::string out;
  for (const auto& word : command) out += " " + word;
  return out;
}

void add_probes(std::vector<std::string>& lines, const core::Plan& plan, const results::Verdict& verdict) {
  for (const auto& probe : verdict.probes) {
    if (probe.silent) continue;
    add(lines, "probe " + probe.name +
                   (probe.file.empty() ? "" : " (" + probe.file + ":" + std::to_string(probe.line) + ")") +
                   ": " + describe(probe));
  }
  std::size_t shown = 0;
  for (const auto& proof : verdict.proofs) {
    std::string line = "proof: ";
    if (proof.units.first < proof.units.second) {
      const core::Unit unit = core::unit_of(plan, {proof.unit.id, proof.units, false});
      line += "iterations " + std::to_string(unit.first) + " to " + std::to_string(unit.last) + " ";
    }
    if (++shown <= kReasons)
      add(lines, line + (proof.error.empty() ? "executed" : "not executed: " + proof.error));
  }
  if (shown > kReasons) add(lines, "… and " + std::to_string(shown - kReasons) + " more proofs");
  if (!verdict.taken_back().empty() && core::rests_on_skipping(plan))
    add(lines, "for right rows: flor replay " + plan.run + " --" + words(plan.command));
}

std::string names_of(const core::Plan& plan) {
  std::string out;
  std::set<std::string> seen;
  for (const auto& probe : plan.probes) {
    if (probe.name.empty() || !seen.insert(probe.name).second) continue;
    out += (out.empty() ? "" : ",") + probe.name;
  }
  return out;
}

std::string log_command(const core::Plan& plan) {
  const std::string names = names_of(plan);
  return "flor log " + plan.run + (names.empty() ? "" : " --names " + names);
}

}  // namespace

std::string summary(const core::Plan& plan, const results::Verdict& verdict, bool whole) {
  std::vector<std::string> lines;
  lines.push_back("replay " + plan.replay + " of run " + plan.run + ": " + to_string(verdict.judgement));
  for (const auto& reason : verdict.reasons) add(lines, reason);
  for (std::size_t k = 0; k < std::min(verdict.differences.size(), kDifferences); ++k) {
    const std::string line = describe(verdict.differences[k]);
    const bool said =
        std::any_of(verdict.reasons.begin(), verdict.reasons.end(),
                    [&](const std::string& reason) { return reason.find(line) != std::string::npos; });
    if (!said) add(lines, line);
  }
  add(lines, counted(verdict.units.size(), "unit") +
                 "; compared with the record: " + counted(static_cast<std::size_t>(verdict.values), "value") +
                 " and " + counted(static_cast<std::size_t>(verdict.digests), "state digest"));
  add(lines, "blocks: " + std::to_string(verdict.executed()) + " executed, " +
                 std::to_string(verdict.skipped()) + " skipped");
  add_reasons(lines, plan);
  add_time(lines, plan, verdict, whole);
  add_workers(lines, verdict);
  add_probes(lines, plan, verdict);
  for (const auto& name : verdict.silent_probes) add(lines, "probe " + name + " logged nothing");
  lines.push_back("read the rows: " + log_command(plan));
  std::string text;
  for (const auto& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

core::Json summary_json(const core::Plan& plan, const results::Verdict& verdict) {
  core::Json out{{"event", "verdict"}, {"run", plan.run}, {"replay", plan.replay}};
  const core::Json all = to_json(verdict);
  for (const auto& [key, value] : all.items()) {
    if (key != "format") out[key] = value;
  }
  out["estimate"] = {{"bound", plan.bound}, {"makespan", plan.makespan}, {"serial", plan.serial}};
  out["log"] = log_command(plan);
  return out;
}

int exit_code_of(results::Judgement judgement) {
  switch (judgement) {
    case results::Judgement::identical:
      return kDone;
    case results::Judgement::differs:
      return kDiffers;
    case results::Judgement::unproved:
      break;
  }
  return kUnproved;
}

}  // namespace flor::commands
