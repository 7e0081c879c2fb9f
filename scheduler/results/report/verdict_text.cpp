// The verdict as JSON (docs/formats.md, "verdict.json") and as lines for people.
#include <algorithm>
#include <numeric>

#include "results/verdict/verdict.h"

namespace flor::results {

using core::field;
using core::Json;

const char* to_string(Judgement judgement) {
  switch (judgement) {
    case Judgement::identical:
      return "identical";
    case Judgement::differs:
      return "differs";
    case Judgement::unproved:
      break;
  }
  return "unproved";
}

int64_t Verdict::executed() const {
  return std::accumulate(units.begin(), units.end(), int64_t{0},
                         [](int64_t sum, const UnitVerdict& unit) { return sum + unit.executed; });
}

int64_t Verdict::skipped() const {
  return std::accumulate(units.begin(), units.end(), int64_t{0},
                         [](int64_t sum, const UnitVerdict& unit) { return sum + unit.skipped; });
}

std::set<std::string> Verdict::taken_back() const {
  std::set<std::string> names;
  for (const auto& probe : probes) {
    if (probe.taken_back) names.insert(probe.name);
  }
  return names;
}

namespace {

Json unit_json(const UnitVerdict& unit) {
  return {{"id", unit.id},       {"values", unit.values},     {"digests", unit.digests},
          {"equal", unit.equal}, {"executed", unit.executed}, {"skipped", unit.skipped}};
}

UnitVerdict unit_from(const Json& unit) {
  return {field<int64_t>(unit, "id", -1),      field<int64_t>(unit, "values", 0),
          field<int64_t>(unit, "digests", 0),  field<int64_t>(unit, "equal", 0),
          field<int64_t>(unit, "executed", 0), field<int64_t>(unit, "skipped", 0)};
}

Json proof_json(const ProofVerdict& proof) {
  Json out = unit_json(proof.unit);
  out["units"] = {proof.units.first, proof.units.second};
  out["error"] = proof.error;
  return out;
}

ProofVerdict proof_from(const Json& json) {
  const auto units = field<std::vector<int64_t>>(json, "units", {});
  ProofVerdict out{unit_from(json), {}, field<std::string>(json, "error", "")};
  if (units.size() == 2) out.units = {units[0], units[1]};
  return out;
}

}  // namespace

Json to_json(const Verdict& verdict) {
  Json units = Json::array();
  for (const auto& unit : verdict.units) units.push_back(unit_json(unit));
  Json probes = Json::array();
  for (const auto& probe : verdict.probes) probes.push_back(to_json(probe));
  Json proofs = Json::array();
  for (const auto& proof : verdict.proofs) proofs.push_back(proof_json(proof));
  Json differences = Json::array();
  for (const auto& difference : verdict.differences) {
    differences.push_back({{"at", difference.at},
                           {"name", difference.name},
                           {"recorded", difference.recorded},
                           {"replayed", difference.replayed}});
  }
  Json environment = Json::array();
  for (const auto& entry : verdict.environment) {
    environment.push_back({{"key", entry.key}, {"recorded", entry.recorded}, {"replayed", entry.replayed}});
  }
  return {{"format", 1},
          {"verdict", to_string(verdict.judgement)},
          {"reasons", verdict.reasons},
          {"values", verdict.values},
          {"digests", verdict.digests},
          {"units", units},
          {"differences", differences},
          {"environment", environment},
          {"silent_probes", verdict.silent_probes},
          {"probes", probes},
          {"proofs", proofs},
          {"probe_rows", verdict.probe_rows},
          {"seconds", verdict.seconds},
          {"workers", verdict.workers}};
}

Verdict verdict_from(const Json& json) {
  Verdict verdict;
  const auto word = field<std::string>(json, "verdict", "");
  for (Judgement judgement : {Judgement::identical, Judgement::differs}) {
    if (word == to_string(judgement)) verdict.judgement = judgement;
  }
  verdict.reasons = field<std::vector<std::string>>(json, "reasons", {});
  verdict.values = field<int64_t>(json, "values", 0);
  verdict.digests = field<int64_t>(json, "digests", 0);
  for (const auto& unit : field<Json>(json, "units", Json::array())) {
    verdict.units.push_back(unit_from(unit));
  }
  for (const auto& entry : field<Json>(json, "differences", Json::array())) {
    verdict.differences.push_back({field<std::string>(entry, "at", ""), field<std::string>(entry, "name", ""),
                                   field<Json>(entry, "recorded", Json()),
                                   field<Json>(entry, "replayed", Json())});
  }
  for (const auto& entry : field<Json>(json, "environment", Json::array())) {
    verdict.environment.push_back({field<std::string>(entry, "key", ""),
                                   field<std::string>(entry, "recorded", ""),
                                   field<std::string>(entry, "replayed", "")});
  }
  verdict.silent_probes = field<std::vector<std::string>>(json, "silent_probes", {});
  for (const auto& probe : field<Json>(json, "probes", Json::array()))
    verdict.probes.push_back(probe_verdict_from(probe));
  for (const auto& proof : field<Json>(json, "proofs", Json::array()))
    verdict.proofs.push_back(proof_from(proof));
  verdict.probe_rows = field<int64_t>(json, "probe_rows", 0);
  verdict.seconds = field(json, "seconds", 0.0);
  verdict.workers = field<std::vector<Json>>(json, "workers", {});
  return verdict;
}

namespace {

std::string shown(const Json& value) {
  if (value.is_null()) return "nothing";
  const std::string text = core::json_text(value);
  return text.size() <= 120 ? text : text.substr(0, 117) + "...";
}

}  // namespace

std::string describe(const EnvironmentDifference& difference) {
  auto text = [](const std::string& value) { return value.empty() ? std::string("none") : value; };
  return difference.key + ": " + text(difference.recorded) + " on record, " + text(difference.replayed) +
         " in replay";
}

std::string describe(const Difference& difference) {
  return difference.name +
         (difference.at.empty() ? std::string(" outside of all loops") : " at " + difference.at) + ": " +
         shown(difference.recorded) + " on record, " + shown(difference.replayed) + " in replay";
}

}  // namespace flor::results
