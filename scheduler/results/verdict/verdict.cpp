#include "results/verdict/verdict.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>
#include <unordered_set>

#include "results/rows/places.h"

namespace flor::results {
namespace {

using core::Json;

constexpr std::size_t max_differences = 100;  // more are counted, but not listed

std::string counted(int64_t number, const std::string& one, const std::string& many) {
  return std::to_string(number) + " " + (number == 1 ? one : many);
}

// Returns true if the name looks like a measured time, which no replay repeats.
bool is_clock_name(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* word : {"second", "time", "elapsed", "duration", "throughput", "per_sec", "eta"}) {
    const std::string part(word);
    const auto at = name.find(part);
    if (at != std::string::npos && (part != "eta" || name == part)) return true;
  }
  auto ends_with = [&](const std::string& tail) {
    return name.size() > tail.size() && name.compare(name.size() - tail.size(), tail.size(), tail) == 0;
  };
  return ends_with("_ms") || ends_with("_s") || ends_with("_us");
}

// Compares the units with the record, in order.
class Comparison {
 public:
  Comparison(const core::Manifest& manifest, const core::Plan& plan, const Record& record,
             const std::vector<UnitLog>& units)
      : record_(record),
        plan_(plan),
        units_(units),
        matcher_(record_, plan.units.empty() ? -1 : plan.units.back().id),
        seen_(record_.rows().size(), false) {
    const core::RecordedLoop* main = manifest.main_loop();
    const bool running = main == nullptr || main->ended == core::LoopEnd::running;
    cut_ = !core::covers_end(plan, manifest);
    if (running && !record_.rows().empty())
      cut_at_ = record_.iteration_of(record_.rows().back().at).value_or(0);
  }

  void run() {
    for (const auto& unit : units_) {
      verdicts_.push_back({});
      verdicts_.back().id = unit.id;
      compare(unit);
    }
    for (std::size_t i = 0; i < record_.rows().size(); ++i) {
      if (!seen_[i] && is_expected(i)) note(i, record_.rows()[i], record_.rows()[i].value, Json());
    }
    std::stable_sort(differences_.begin(), differences_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }

  std::vector<UnitVerdict> verdicts_;
  std::vector<std::pair<std::size_t, Difference>> differences_;  // with their positions in the record
  SeenProbes names_;                                             // of the replayed rows
  std::set<std::string> newly_volatile_;                         // volatile in the replay only
  int64_t missing_ = 0, surplus_ = 0;

 private:
  void note(std::size_t position, const Row& row, Json recorded, Json replayed) {
    if (recorded.is_null()) ++surplus_;
    if (replayed.is_null()) ++missing_;
    differences_.push_back({position, {row.at, row.name, std::move(recorded), std::move(replayed)}});
  }

  void compare(const UnitLog& unit) {
    matcher_.begin(unit);
    if (unit.id != 0) position_ = std::max(position_, record_.start_of(unit.first, unit.from));
    skipped_.emplace_back();
    bool ended = false;
    for (const auto& entry : unit.entries) {
      std::visit([this](const auto& what) { pass(what); }, entry);
      ended = ended || std::holds_alternative<LoopEndEvent>(entry);
    }
    if (unit.id == plan_.units.back().id && !cut_ && !ended) {
      ++missing_;
      differences_.push_back({record_.behind_loop(), {"", "end of the main loop", Json("reached"), Json()}});
    }
  }

  void pass(const Row& row) {
    names_.logged.insert(row.name);
    const Found found = matcher_.find(row);
    if (found.added) names_.names.insert(row.name);
    if (found.added && !row.is_volatile) names_.steady.insert(row.name);
    if (found.recorded) {
      position_ = *found.recorded;
      compare_values(row, *found.recorded);
    } else if (found.strayed || (!found.added && !row.is_volatile && !is_behind_cut(row))) {
      note(position_, row, Json(), row.value);
    }
  }

  void compare_values(const Row& row, std::size_t index) {
    const Row& recorded = record_.rows()[index];
    seen_[index] = true;
    if (recorded.is_volatile) return;
    if (row.is_volatile) {
      newly_volatile_.insert(row.name);
      return;
    }
    UnitVerdict& verdict = verdicts_.back();
    ++verdict.values;
    if (recorded.value_text() == row.value_text()) {
      ++verdict.equal;
    } else {
      note(index, row, recorded.value, row.value);
    }
  }

  void pass(const BlockEvent& event) {
    matcher_.see(event);
    UnitVerdict& verdict = verdicts_.back();
    ++(event.skipped ? verdict.skipped : verdict.executed);
    if (event.skipped) skipped_.back().insert(event.at);
  }

  void pass(const DigestEvent& event) {
    if (event.recorded.empty()) return;
    UnitVerdict& verdict = verdicts_.back();
    ++verdict.digests;
    if (event.recorded == event.live) {
      ++verdict.equal;
    } else {
      differences_.push_back({position_, {event.at, "state digest", Json(event.recorded), Json(event.live)}});
    }
  }

  void pass(const BeforeEvent& event) { matcher_.see(event); }

  void pass(const LoopEndEvent& event) {
    matcher_.see_loop_end();
    // Of a recording that was killed, the last iteration that ended counts, and the loop went on behind it.
    // No one knows how the next one would have ended.
    const bool was_killed = event.recorded_ended == core::to_string(core::LoopEnd::running);
    const bool is_cut_short =
        event.last <= event.recorded_last || event.ended == core::to_string(core::LoopEnd::unwound);
    if (was_killed && !is_cut_short) return;
    if ((event.ended == event.recorded_ended && event.last == event.recorded_last)) return;
    auto text = [](const std::string& ended, int64_t last) {
      return ended + " after " + std::to_string(last);
    };
    differences_.push_back(
        {record_.behind_loop(),
         {event.at, "end of loop " + event.name, Json(text(event.recorded_ended, event.recorded_last)),
          Json(text(event.ended, event.last))}});
  }

  // Returns true for a row that the recording would have logged after it was killed: no one knows its value.
  bool is_behind_cut(const Row& row) const {
    const auto iteration = record_.iteration_of(row.at);
    return iteration && *iteration >= cut_at_;
  }

  // Returns the unit of the plan with this place; nullopt if that is unknown.
  std::optional<int64_t> unit_with(int64_t iteration, std::optional<int64_t> part) const {
    const std::pair<int64_t, int64_t> place(iteration, part.value_or(Record::in_front));
    auto unit = std::upper_bound(
        plan_.units.begin(), plan_.units.end(), place,
        [](const auto& place, const core::Unit& unit) { return place < std::pair(unit.first, unit.from); });
    if (unit == plan_.units.begin()) return std::nullopt;
    --unit;
    if (iteration > unit->last) return std::nullopt;
    const bool whole =
        (iteration > unit->first || unit->from < 0) && (iteration < unit->last || unit->to < 0);
    return part || whole ? std::optional(unit->id) : std::nullopt;
  }

  // Returns the position in units_ of the unit that must contain a recorded row.
  std::optional<std::size_t> unit_of(std::size_t row) const {
    if (units_.empty()) return std::nullopt;
    int64_t id = 0;
    if (record_.side(row) == Side::within) {
      const auto unit = unit_with(record_.iteration(row), record_.part_of(row));
      if (!unit) return std::nullopt;
      id = *unit;
    } else {
      const auto other = record_.other_loop(record_.rows()[row].at);
      if (other == Side::before) return std::nullopt;  // an earlier outermost loop yields nothing
      const bool last = other == Side::after || record_.side(row) == Side::after;
      if (last && cut_) return std::nullopt;
      id = last ? plan_.units.back().id : 0;
      // Before or after the loop, unknown which: expected if both were replayed.
      const bool whole = units_.size() == plan_.units.size();
      if (!record_.splits() && !last && !whole) return std::nullopt;
    }
    const auto unit = std::lower_bound(units_.begin(), units_.end(), id,
                                       [](const UnitLog& log, int64_t value) { return log.id < value; });
    if (unit == units_.end() || unit->id != id) return std::nullopt;
    return static_cast<std::size_t>(unit - units_.begin());
  }

  bool is_expected(std::size_t row) const {
    const Row& recorded = record_.rows()[row];
    if (recorded.is_volatile) return false;
    const auto unit = unit_of(row);
    if (!unit) return false;
    const auto& skipped = skipped_[*unit];
    if (skipped.empty()) return true;
    for (std::size_t cut = recorded.at.find('/');; cut = recorded.at.find('/', cut + 1)) {
      if (skipped.count(recorded.at.substr(0, cut)) != 0) return false;
      if (cut == std::string::npos) return true;
    }
  }

  const Record& record_;
  const core::Plan& plan_;
  const std::vector<UnitLog>& units_;
  Matcher matcher_;
  std::vector<bool> seen_;
  std::vector<std::unordered_set<std::string>> skipped_;  // blocks, by unit
  std::size_t position_ = 0;                              // position of the last matched row in the record
  bool cut_ = false;  // the recording was killed: replay runs nothing after its main loop
  int64_t cut_at_ = std::numeric_limits<int64_t>::max();  // the iteration in which it was killed
};

std::vector<EnvironmentDifference> compare_environments(const core::Manifest& manifest,
                                                        const Extras& extras) {
  std::set<std::pair<std::string, std::string>> known;
  std::vector<EnvironmentDifference> out;
  auto add = [&](const std::string& key, const std::string& recorded, const std::string& replayed) {
    if (recorded != replayed && known.emplace(key, replayed).second) out.push_back({key, recorded, replayed});
  };
  for (const auto& environment : extras.environments) {
    for (const auto& [key, recorded] : manifest.environment) {
      auto at = environment.find(key);
      add(key, recorded, at == environment.end() ? "" : at->second);
    }
    for (const auto& [key, replayed] : environment) {
      if (manifest.environment.count(key) == 0) add(key, "", replayed);
    }
  }
  return out;
}

void explain_differences(const Comparison& comparison, Verdict& verdict) {
  const auto& differences = comparison.differences_;
  verdict.reasons.push_back("first difference: " + describe(differences.front().second));
  std::string counts =
      counted(static_cast<int64_t>(differences.size()), "difference", "differences") + " in all";
  if (comparison.missing_ > 0)
    counts += ", " + std::to_string(comparison.missing_) + " missing in the replay";
  if (comparison.surplus_ > 0)
    counts += ", " + std::to_string(comparison.surplus_) + " that the record does not have";
  if (differences.size() > max_differences)
    counts += "; the first " + std::to_string(max_differences) + " are listed";
  verdict.reasons.push_back(counts);
  std::set<std::string> clocks;
  for (const auto& [position, difference] : differences) {
    if (is_clock_name(difference.name)) clocks.insert(difference.name);
  }
  for (const auto& name : clocks) {
    verdict.reasons.push_back(
        "'" + name +
        "' looks like a measured time: log it with flor::is_volatile to leave it out of "
        "the verdict");
  }
  for (const auto& entry : verdict.environment)
    verdict.reasons.push_back("the environment differs: " + describe(entry));
}

void decide(const Comparison& comparison, const core::Plan& plan, Verdict& verdict) {
  if (!comparison.differences_.empty()) {
    verdict.judgement = Judgement::differs;
    explain_differences(comparison, verdict);
    return;
  }
  const auto compared_units =
      std::count_if(verdict.units.begin(), verdict.units.end(),
                    [](const UnitVerdict& unit) { return unit.values + unit.digests > 0; });
  const auto idle = static_cast<int64_t>(verdict.units.size()) - compared_units;
  if (compared_units == 0) {
    verdict.reasons.emplace_back(
        "nothing was compared: no recorded value and no recorded state lies in what was executed");
    return;
  }
  if (idle > 0) {
    verdict.reasons.push_back(counted(idle, "unit", "units") + " of " + std::to_string(verdict.units.size()) +
                              " had nothing to compare");
  }
  if (plan.any_device) {
    verdict.reasons.emplace_back(
        "all that was compared is equal, but --any-device proves nothing about the recorded device");
    return;
  }
  const auto open = reasons_of_open(verdict.probes);
  verdict.reasons.insert(verdict.reasons.end(), open.begin(), open.end());
  if (open.empty()) verdict.judgement = Judgement::identical;
}

// Returns the plan with the units of the proof joined into one, and the id of that unit.
std::pair<core::Plan, int64_t> merged(const core::Plan& plan, const core::Proof& proof) {
  core::Plan out;
  out.covers_end = plan.covers_end;
  const auto add = [&](core::Unit unit) {
    unit.id = static_cast<int64_t>(out.units.size());
    out.units.push_back(std::move(unit));
  };
  for (int64_t id = 0; id < static_cast<int64_t>(plan.units.size()); ++id) {
    if (id == proof.units.first) {
      add(core::unit_of(plan, proof));
    } else if (id < proof.units.first || id >= proof.units.second) {
      add(plan.units[static_cast<std::size_t>(id)]);
    }
  }
  if (proof.units.second == static_cast<int64_t>(plan.units.size()) && !proof.behind_loop) {
    core::Unit behind;  // stands for the program after the loop, which the proof did not execute
    behind.first = behind.last = plan.units.back().last + 1;
    add(behind);
  }
  return {std::move(out), proof.units.first};
}

// Compares a proof unit, or another execution of a unit, with the record. Leaves out differences that are
// known.
ProofVerdict judge_proof(const core::Manifest& manifest, const core::Plan& plan, const Record& record,
                         const ProofLog& proof, Comparison& all) {
  ProofVerdict out;
  out.units = proof.proof.units;
  out.error = proof.error;
  out.unit.id = proof.proof.id;
  if (!proof.log) return out;
  const auto [units, id] = merged(plan, proof.proof);
  std::vector<UnitLog> logs{*proof.log};
  logs.front().id = id;
  Comparison comparison(manifest, units, record, logs);
  comparison.run();
  out.unit = comparison.verdicts_.front();
  out.unit.id = proof.proof.id;
  for (auto& found : comparison.differences_) {
    const auto known = std::any_of(all.differences_.begin(), all.differences_.end(), [&](const auto& one) {
      return one.second.at == found.second.at && one.second.name == found.second.name;
    });
    if (!known) all.differences_.push_back(std::move(found));
  }
  return out;
}

}  // namespace

Verdict judge(const core::Manifest& manifest, const core::Plan& plan, const Record& record,
              const std::vector<UnitLog>& units, const Extras& extras, const std::vector<ProofLog>& proofs,
              const std::vector<UnitLog>& again) {
  Comparison comparison(manifest, plan, record, units);
  comparison.run();
  Verdict verdict;
  verdict.units = comparison.verdicts_;
  for (const auto& unit : verdict.units) {
    verdict.values += unit.values;
    verdict.digests += unit.digests;
  }
  for (const auto& proof : proofs)
    verdict.proofs.push_back(judge_proof(manifest, plan, record, proof, comparison));
  for (const auto& other : again) {
    const bool is_last = other.id + 1 == static_cast<int64_t>(plan.units.size());
    const ProofLog executed{core::Proof{other.id, {other.id, other.id + 1}, is_last}, other, ""};
    judge_proof(manifest, plan, record, executed, comparison);
  }
  std::stable_sort(comparison.differences_.begin(), comparison.differences_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const ProbeComparison probes = compare_probes(record, plan, units, proofs, again);
  verdict.probe_rows = probes.rows;
  verdict.probes = judge_probes(plan, comparison.names_, probes, proofs);
  verdict.environment = compare_environments(manifest, extras);
  verdict.silent_probes = silent_probes(plan, comparison.names_.logged);
  decide(comparison, plan, verdict);
  for (const auto& name : comparison.newly_volatile_) {
    verdict.reasons.push_back("'" + name +
                              "' is volatile in the replayed program only: its values were not compared");
  }
  for (const int64_t id : repeated_otherwise(plan, units, again)) {
    verdict.reasons.push_back(
        "unit " + std::to_string(id) +
        " was replayed twice with different rows; the first stay: the program is not deterministic");
  }
  for (const auto& warning : extras.warnings) verdict.reasons.push_back(warning);
  for (const auto& [position, difference] : comparison.differences_) {
    if (verdict.differences.size() == max_differences) break;
    verdict.differences.push_back(difference);
  }
  verdict.seconds = extras.seconds;
  verdict.workers = extras.workers;
  return verdict;
}

}  // namespace flor::results
