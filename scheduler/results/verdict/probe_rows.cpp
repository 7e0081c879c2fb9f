#include "results/verdict/probe_rows.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace flor::results {
namespace {

using core::Json;

// Identifies a row in all units that execute its place: whether it is after the main loop, path, name,
// ordinal.
using Key = std::tuple<bool, std::string, std::string, int64_t>;
using Keyed = std::vector<std::pair<Key, const Row*>>;  // in program order

// The comparable rows of probes in a unit.
class Collector {
 public:
  // Without a record: all comparable rows.
  Collector(const Record* record, const Hidden& hidden) : record_(record), hidden_(hidden) {}

  Keyed rows(const UnitLog& unit) {
    for (const auto& entry : unit.entries) std::visit([this](const auto& what) { pass(what); }, entry);
    return std::move(rows_);
  }

 private:
  void pass(const Row& row) {
    const int64_t ordinal = ordinals_.next(row.at, row.name);
    if (row.is_volatile || !hidden_.is_comparable(row.name) ||
        (record_ != nullptr && record_->has(row.at, row.name)))
      return;
    rows_.push_back({{behind_, row.at, row.name, ordinal}, &row});
  }
  void pass(const BeforeEvent& event) { ordinals_.skip(event.at, event.name, event.count); }
  void pass(const LoopEndEvent&) {
    behind_ = true;
    ordinals_.clear();
  }
  void pass(const BlockEvent&) {}
  void pass(const DigestEvent&) {}

  const Record* record_;
  const Hidden& hidden_;
  bool behind_ = false;
  Ordinals ordinals_;
  Keyed rows_;
};

void add_skipped(const UnitLog& unit, std::unordered_set<std::string>& blocks) {
  for (const auto& entry : unit.entries) {
    const auto* event = std::get_if<BlockEvent>(&entry);
    if (event != nullptr && event->skipped) blocks.insert(event->at);
  }
}

bool lies_in_one(const std::string& at, const std::unordered_set<std::string>& blocks) {
  if (blocks.empty()) return false;
  for (std::size_t cut = at.find('/');; cut = at.find('/', cut + 1)) {
    if (blocks.count(at.substr(0, cut)) != 0) return true;
    if (cut == std::string::npos) return false;
  }
}

const UnitLog* find_unit(const std::vector<UnitLog>& units, int64_t id) {
  const auto at = std::lower_bound(units.begin(), units.end(), id,
                                   [](const UnitLog& unit, int64_t value) { return unit.id < value; });
  return at == units.end() || at->id != id ? nullptr : &*at;
}

// Compares one proof unit.
class Sample {
 public:
  Sample(const Record& record, const Hidden& hidden, const std::vector<UnitLog>& units, const ProofLog& proof)
      : proof_(proof), proved_(Collector(&record, hidden).rows(*proof.log)) {
    for (int64_t id = proof.proof.units.first; id < proof.proof.units.second; ++id) {
      const UnitLog* unit = find_unit(units, id);
      whole_ = whole_ && unit != nullptr;
      if (unit == nullptr) continue;
      const Keyed rows = Collector(&record, hidden).rows(*unit);
      replayed_.insert(replayed_.end(), rows.begin(), rows.end());
      add_skipped(*unit, skipped_);
    }
  }

  void compare(ProbeComparison& out) const {
    const std::map<Key, const Row*> proved(proved_.begin(), proved_.end());
    std::set<Key> known;
    std::set<std::string> equal;
    for (const auto& [key, row] : replayed_) {
      known.insert(key);
      if (std::get<0>(key) && !proof_.proof.behind_loop) continue;
      ++out.rows;
      const auto same = proved.find(key);
      if (same != proved.end() && same->second->value_text() == row->value_text()) {
        equal.insert(row->name);
      } else {
        contradict(out, *row, row->value, same == proved.end() ? Json() : same->second->value);
      }
    }
    for (const auto& name : equal) ++out.samples[name];
    // Skip rows of units that the replay did not select, and rows inside a skipped block.
    for (const auto& [key, row] : proved_) {
      if (whole_ && known.count(key) == 0 && !lies_in_one(row->at, skipped_))
        contradict(out, *row, Json(), row->value);
    }
  }

 private:
  static void contradict(ProbeComparison& out, const Row& row, Json replayed, Json proved) {
    out.contradicted.try_emplace(row.name,
                                 ProbeDifference{row.at, row.name, std::move(replayed), std::move(proved)});
  }

  const ProofLog& proof_;
  Keyed proved_, replayed_;
  std::unordered_set<std::string> skipped_;
  bool whole_ = true;  // the replay selected all of its units
};

// Returns the rows of `unit` that `other`, another execution of it, does not have with the same value, each
// with the other's row: null if there is none. Leaves out rows in a block that the other skipped.
std::vector<std::pair<const Row*, const Row*>> differences(const Record* record, const Hidden& hidden,
                                                           const UnitLog& unit, const UnitLog& other) {
  const Keyed others = Collector(record, hidden).rows(other);
  const std::map<Key, const Row*> known(others.begin(), others.end());
  std::unordered_set<std::string> skipped;
  add_skipped(other, skipped);
  std::vector<std::pair<const Row*, const Row*>> out;
  for (const auto& [key, row] : Collector(record, hidden).rows(unit)) {
    const auto same = known.find(key);
    if (same == known.end() && !lies_in_one(row->at, skipped)) out.emplace_back(row, nullptr);
    if (same != known.end() && same->second->value_text() != row->value_text())
      out.emplace_back(row, same->second);
  }
  return out;
}

void compare_again(const Record& record, const Hidden& hidden, const UnitLog& unit, const UnitLog& again,
                   ProbeComparison& out) {
  const auto value_of = [](const Row* row) { return row == nullptr ? Json() : row->value; };
  for (const auto& [row, other] : differences(&record, hidden, unit, again)) {
    out.contradicted.try_emplace(
        row->name, ProbeDifference{row->at, row->name, row->value, value_of(other), false, true});
  }
  for (const auto& [other, row] : differences(&record, hidden, again, unit)) {
    out.contradicted.try_emplace(
        other->name, ProbeDifference{other->at, other->name, value_of(row), other->value, false, true});
  }
}

std::string shown(const Json& value) {
  if (value.is_null()) return "no row";
  const std::string text = core::json_text(value);
  return text.size() <= 120 ? text : text.substr(0, 117) + "...";
}

}  // namespace

bool skips(const core::Plan& plan, const UnitLog& unit) {
  if (!plan.complete && !plan.lead_in_all && unit.id > 0) return true;
  return std::any_of(unit.entries.begin(), unit.entries.end(), [](const Entry& entry) {
    const auto* event = std::get_if<BlockEvent>(&entry);
    return event != nullptr && event->skipped;
  });
}

Hidden::Hidden(const core::Plan& plan, std::set<std::string> taken_back)
    : taken_back_(std::move(taken_back)) {
  for (const auto& probe : plan.probes) {
    if (!probe.name.empty()) named_.insert(probe.name);
    if (probe.is_volatile) volatile_.insert(probe.name);
    if (probe.withheld.empty()) continue;
    if (probe.name.empty()) {
      unnamed_ = true;
    } else {
      withheld_.insert(probe.name);
    }
  }
}

bool Hidden::is_withheld(const std::string& name) const {
  return withheld_.count(name) != 0 || (unnamed_ && named_.count(name) == 0);
}

bool Hidden::is_comparable(const std::string& name) const {
  return !is_withheld(name) && volatile_.count(name) == 0;
}

void Hidden::strip(const Record& record, UnitLog& unit) const {
  if (nothing()) return;
  auto& entries = unit.entries;
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [&](const Entry& entry) {
                                 const Row* row = std::get_if<Row>(&entry);
                                 return row != nullptr && !record.has(row->at, row->name) &&
                                        (taken_back_.count(row->name) != 0 || is_withheld(row->name));
                               }),
                entries.end());
}

ComparableNames comparable_names(const Record& record, const Hidden& hidden, const UnitLog& unit) {
  ComparableNames out;
  for (const auto& [key, row] : Collector(&record, hidden).rows(unit)) {
    (std::get<0>(key) ? out.behind_loop : out.in_loop).insert(row->name);
  }
  return out;
}

ProbeComparison compare_probes(const Record& record, const core::Plan& plan,
                               const std::vector<UnitLog>& units, const std::vector<ProofLog>& proofs,
                               const std::vector<UnitLog>& again) {
  const Hidden hidden(plan, {});
  ProbeComparison out;
  for (const auto& proof : proofs) {
    if (proof.log) Sample(record, hidden, units, proof).compare(out);
  }
  for (auto& [name, difference] : out.contradicted) difference.brief = plan.brief.has_value();
  for (const auto& other : again) {
    if (const UnitLog* unit = find_unit(units, other.id)) compare_again(record, hidden, *unit, other, out);
  }
  return out;
}

std::set<int64_t> repeated_otherwise(const core::Plan& plan, const std::vector<UnitLog>& units,
                                     const std::vector<UnitLog>& again) {
  const Hidden hidden(plan, {});
  std::set<int64_t> out;
  for (const auto& other : again) {
    const UnitLog* unit = find_unit(units, other.id);
    if (unit != nullptr && (!differences(nullptr, hidden, *unit, other).empty() ||
                            !differences(nullptr, hidden, other, *unit).empty()))
      out.insert(other.id);
  }
  return out;
}

std::string describe(const ProbeDifference& difference) {
  return difference.name +
         (difference.at.empty() ? std::string(" outside of all loops") : " at " + difference.at) + ": " +
         shown(difference.replayed) + " in the replay, " + shown(difference.proved) +
         (difference.again   ? " when the unit was executed once more"
          : difference.brief ? " when the skipped blocks execute their first steps"
                             : " where every block executes");
}

}  // namespace flor::results
