#include "results/verdict/founding.h"

#include <algorithm>

#include "core/store/proof.h"

namespace flor::results {
namespace {

using core::field;
using core::Founding;
using core::Json;

bool executes(const core::Plan& plan, const std::string& block) {
  return plan.executes(block) && (plan.complete || plan.executes_in_lead_in(block));
}

// Returns " of iterations 2 to 3". Empty for a proof whose units were never chosen.
std::string iterations_of(const core::Plan& plan, const core::Proof& proof) {
  if (proof.nothing()) return "";
  const core::Unit unit = core::unit_of(plan, proof);
  return " of iterations " + std::to_string(unit.first) + " to " + std::to_string(unit.last);
}

// Returns why no proof unit contains a row of the probe.
std::string without_sample(const core::Plan& plan, const std::vector<ProofLog>& proofs) {
  if (plan.proofs == 0) return "no proof unit was executed (--prove none)";
  for (const auto& proof : proofs) {
    if (proof.log) continue;
    return "the proof unit" + iterations_of(plan, proof.proof) + " was not executed" +
           (proof.error.empty() ? "" : ": " + proof.error);
  }
  return "no proof unit holds a row of it (--prove all proves every unit)";
}

// Did a proof unit fail that was begun? Then the program may not run where units begin as it did where it was
// recorded.
bool failed(const std::vector<ProofLog>& proofs) {
  return std::any_of(proofs.begin(), proofs.end(), [](const auto& proof) {
    return !proof.log && !proof.error.empty() && !proof.proof.nothing();
  });
}

// Can a log statement that Flor read have logged the name?
bool may_be_read(const core::Plan& plan, const std::string& name) {
  return !plan.names || plan.names->count(name) != 0 || plan.names->count("") != 0;
}

// Returns a probe for a name that rows have, but that no probe of the plan has. It may belong to a probe
// whose name is no literal, so it takes the worst of their states. Of one that no statement in the sources
// can have logged, nothing is known.
core::Probe unlisted(const core::Plan& plan, const std::string& name) {
  core::Probe out{name, "", 0, ""};
  found(out, plan);
  if (!may_be_read(plan, name)) {
    out.founding = Founding::unproved;
    out.why = "it is logged by code that Flor did not read";
  }
  for (const auto& probe : plan.probes) {
    if (!probe.name.empty()) continue;
    if (probe.founding == Founding::unproved) out.founding = probe.founding, out.why = probe.why;
    if (!probe.withheld.empty()) out.withheld = probe.withheld;
  }
  return out;
}

ProbeVerdict judge_one(const core::Probe& probe, const core::Plan& plan, const SeenProbes& seen,
                       const ProbeComparison& comparison, const std::vector<ProofLog>& proofs) {
  ProbeVerdict out{probe.name, probe.file, probe.line, probe.founding, 0, probe.why, probe.withheld};
  out.silent = seen.logged.count(probe.name) == 0;
  if (!core::rests_on_skipping(plan)) {
    out.founding = Founding::executed;
    out.why.clear();
  }
  if (const auto at = comparison.samples.find(probe.name); at != comparison.samples.end())
    out.samples = at->second;
  if (const auto at = comparison.contradicted.find(probe.name); at != comparison.contradicted.end()) {
    out.taken_back = true;
    out.difference = at->second;
  }
  out.brief = plan.brief.has_value() && (out.samples > 0 || out.taken_back);
  out.answers = seen.steady.count(probe.name) != 0 && out.withheld.empty() && !probe.is_volatile;
  const bool is_doubtful =
      out.founding == Founding::executed && core::rests_on_skipping(plan) && failed(proofs);
  const bool needs_sample = out.founding == Founding::held || is_doubtful;
  if (out.answers && needs_sample && out.samples == 0 && !out.taken_back) {
    out.founding = Founding::unproved;
    out.why = without_sample(plan, proofs);
  }
  return out;
}

}  // namespace

void found(core::Probe& probe, const core::Plan& plan) {
  const bool all = plan.execute_all && (plan.complete || plan.lead_in_all);
  const bool depends = std::any_of(probe.depends.begin(), probe.depends.end(),
                                   [&](const auto& block) { return !executes(plan, block); });
  const bool rests = probe.depends.empty() ? !all : depends;
  probe.why.clear();
  // Nothing is skipped, so its clock is right. What is withheld and not volatile reads files: it stays so.
  if (all && probe.is_volatile) probe.withheld.clear();
  for (const auto& input : probe.inputs) {
    const bool stale = std::any_of(input.changed_by.begin(), input.changed_by.end(),
                                   [&](const auto& block) { return !executes(plan, block); });
    if (input.held || !stale) continue;
    probe.founding = Founding::unproved;
    probe.why = input.name + " is not held: " + input.why;
    return;
  }
  probe.founding = rests ? Founding::held : Founding::executed;
}

std::vector<ProbeVerdict> judge_probes(const core::Plan& plan, const SeenProbes& seen,
                                       const ProbeComparison& comparison,
                                       const std::vector<ProofLog>& proofs) {
  std::vector<ProbeVerdict> out;
  std::set<std::string> listed;
  for (const auto& probe : plan.probes) {
    if (probe.name.empty()) continue;
    listed.insert(probe.name);
    out.push_back(judge_one(probe, plan, seen, comparison, proofs));
  }
  for (const auto& name : seen.names) {
    if (listed.count(name) == 0)
      out.push_back(judge_one(unlisted(plan, name), plan, seen, comparison, proofs));
  }
  // Only another execution has rows of these.
  for (const auto& [name, difference] : comparison.contradicted) {
    if (listed.count(name) == 0 && seen.names.count(name) == 0)
      out.push_back(judge_one(unlisted(plan, name), plan, seen, comparison, proofs));
  }
  return out;
}

std::vector<std::string> silent_probes(const core::Plan& plan, const std::set<std::string>& logged) {
  std::vector<std::string> out;
  for (const auto& probe : plan.probes) {
    const bool listed = std::find(out.begin(), out.end(), probe.name) != out.end();
    if (!probe.name.empty() && logged.count(probe.name) == 0 && !listed) out.push_back(probe.name);
  }
  return out;
}

bool is_open(const ProbeVerdict& probe) {
  return probe.taken_back || (probe.answers && probe.founding == Founding::unproved);
}

std::vector<std::string> reasons_of_open(const std::vector<ProbeVerdict>& probes) {
  std::vector<std::string> out;
  for (const auto& probe : probes) {
    if (is_open(probe))
      out.push_back("probe " + probe.name +
                    (probe.taken_back ? ": its rows are taken back" : " is unproved"));
  }
  return out;
}

std::string describe(const ProbeVerdict& probe) {
  const std::string samples = std::to_string(probe.samples) + (probe.brief ? " brief" : "") +
                              (probe.samples == 1 ? " sample" : " samples");
  if (probe.taken_back) return "taken back: " + describe(*probe.difference);
  if (probe.silent) return "logged nothing";
  if (!probe.withheld.empty()) return "not given: " + probe.withheld;
  if (probe.founding == Founding::unproved) return "unproved: " + probe.why;
  if (probe.samples == 0) return to_string(probe.founding);
  return std::string(to_string(probe.founding)) + ", proved on " + samples;
}

Json to_json(const ProbeVerdict& probe) {
  Json out{{"name", probe.name},
           {"file", probe.file},
           {"line", probe.line},
           {"founding", to_string(probe.founding)},
           {"samples", probe.samples},
           {"brief", probe.brief},
           {"why", probe.why},
           {"withheld", probe.withheld},
           {"taken_back", probe.taken_back},
           {"silent", probe.silent},
           {"answers", probe.answers}};
  if (probe.difference) {
    out["difference"] = {{"at", probe.difference->at},
                         {"name", probe.difference->name},
                         {"replayed", probe.difference->replayed},
                         {"proved", probe.difference->proved},
                         {"again", probe.difference->again}};
  }
  return out;
}

ProbeVerdict probe_verdict_from(const Json& json) {
  ProbeVerdict out;
  out.name = field<std::string>(json, "name", "");
  out.file = field<std::string>(json, "file", "");
  out.line = field(json, "line", 0);
  const auto founding = field<std::string>(json, "founding", "");
  for (const Founding one : {Founding::executed, Founding::held}) {
    if (founding == to_string(one)) out.founding = one;
  }
  out.samples = field<int64_t>(json, "samples", 0);
  out.brief = field(json, "brief", false);
  out.why = field<std::string>(json, "why", "");
  out.withheld = field<std::string>(json, "withheld", "");
  out.taken_back = field(json, "taken_back", false);
  out.silent = field(json, "silent", false);
  out.answers = field(json, "answers", false);
  if (const Json known = field<Json>(json, "difference", Json()); known.is_object() || out.taken_back) {
    out.difference = ProbeDifference{field<std::string>(known, "at", ""),
                                     field<std::string>(known, "name", ""),
                                     field<Json>(known, "replayed", Json()),
                                     field<Json>(known, "proved", Json()),
                                     out.brief,
                                     field(known, "again", false)};
  }
  return out;
}

}  // namespace flor::results
