#include "results/rows/merge.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "results/rows/places.h"

namespace flor::results {
namespace {

// A row of an answer, and its place in the record: before the recorded row number `gap`.
struct Insert {
  std::size_t gap = 0;
  const Row* row = nullptr;
  // Which row of its scope and name it is: behind the main loop or not, and its ordinal there.
  bool behind_loop = false;
  int64_t ordinal = 0;
};

// Compares two scope paths at the same position of the record. Returns a negative or positive number, or 0 if
// the paths do not show an order.
int compare_places(const std::string& left, const std::string& right) {
  const auto a = scope_elements(left);
  const auto b = scope_elements(right);
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].name != b[i].name || a[i].loop != b[i].loop) return 0;
    if (a[i].value != b[i].value) return a[i].value < b[i].value ? -1 : 1;
  }
  // One contains the other. A row logged outside usually sums up the rows inside, so it comes after them.
  if (a.size() == b.size()) return 0;
  return a.size() > b.size() ? -1 : 1;
}

// Returns, for each block, the position after the last recorded row inside it.
std::unordered_map<std::string, std::size_t> block_ends(const Record& record) {
  std::unordered_map<std::string, std::size_t> ends;
  for (std::size_t i = 0; i < record.rows().size(); ++i) {
    const std::string& at = record.rows()[i].at;
    for (std::size_t cut = at.find('/');; cut = at.find('/', cut + 1)) {
      const std::string prefix = at.substr(0, cut);
      const auto last = prefix.rfind('/') + 1;  // npos + 1 is 0
      if (prefix.find('=', last) == std::string::npos) ends[prefix] = i + 1;
      if (cut == std::string::npos) break;
    }
  }
  return ends;
}

// Aligns an answer with the record. Recorded rows and skipped blocks are the anchors.
class Placer {
 public:
  Placer(const Record& record, const std::unordered_map<std::string, std::size_t>& ends, int64_t last_unit)
      : record_(record), ends_(ends), matcher_(record, last_unit) {}

  std::vector<Insert> place(const ReplayRows& answer) {
    for (const auto& [id, unit] : answer.units) {
      matcher_.begin(unit);
      for (auto& side : ordinals_) side.clear();
      if (id != 0) reach(record_.start_of(unit.first, unit.from));
      for (const auto& entry : unit.entries) {
        std::visit([this](const auto& what) { pass(what); }, entry);
      }
    }
    return std::move(inserts_);
  }

 private:
  void reach(std::size_t gap) { gap_ = std::max(gap_, gap); }

  void reach_place(const std::string& at) {
    if (auto iteration = record_.iteration_of(at)) {
      reach(record_.start_of(*iteration));
    } else if (matcher_.side_of(at) == Side::after) {
      reach(record_.behind_loop());
    }
  }

  void pass(const Row& row) {
    const Found found = matcher_.find(row);
    const bool behind_loop = matcher_.side_of(row.at) == Side::after;
    const int64_t ordinal = ordinals_[behind_loop ? 1 : 0].next(row.at, row.name);
    if (found.strayed) return;
    if (found.recorded) {
      reach(*found.recorded + 1);
      return;
    }
    reach_place(row.at);
    if (found.added) inserts_.push_back({gap_, &row, behind_loop, ordinal});
  }

  void pass(const BlockEvent& event) {
    matcher_.see(event);
    reach_place(event.at);
    auto end = ends_.find(event.at);
    if (event.skipped && end != ends_.end()) reach(end->second);
  }

  void pass(const LoopEndEvent&) {
    matcher_.see_loop_end();
    reach(record_.behind_loop());
  }

  void pass(const DigestEvent&) {}
  void pass(const BeforeEvent& event) {
    matcher_.see(event);
    ordinals_[0].skip(event.at, event.name, event.count);
    const auto last = record_.find(Side::within, event.at, event.name, event.count - 1);
    if (last) reach(*last + 1);
  }

  const Record& record_;
  const std::unordered_map<std::string, std::size_t>& ends_;
  Matcher matcher_;
  Ordinals ordinals_[2];  // of the present unit: up to the end of the main loop, and behind it
  std::size_t gap_ = 0;
  std::vector<Insert> inserts_;
};

std::vector<Insert> merge_inserts(const std::vector<Insert>& older, const std::vector<Insert>& newer) {
  std::vector<Insert> out;
  out.reserve(older.size() + newer.size());
  auto a = older.begin();
  auto b = newer.begin();
  while (a != older.end() && b != newer.end()) {
    const bool newer_first = a->gap != b->gap ? b->gap < a->gap : compare_places(b->row->at, a->row->at) < 0;
    out.push_back(newer_first ? *b++ : *a++);
  }
  out.insert(out.end(), a, older.end());
  out.insert(out.end(), b, newer.end());
  return out;
}

std::vector<Row> weave(std::vector<Row> record, const std::vector<Insert>& inserts) {
  std::vector<Row> out;
  out.reserve(record.size() + inserts.size());
  auto next = inserts.begin();
  for (std::size_t i = 0; i <= record.size(); ++i) {
    for (; next != inserts.end() && next->gap == i; ++next) out.push_back(*next->row);
    if (i < record.size()) out.push_back(std::move(record[i]));
  }
  return out;
}

}  // namespace

std::string merged_log(const std::vector<UnitLog>& units) {
  std::string out;
  for (const auto& unit : units) {
    for (const auto& entry : unit.entries) {
      if (const Row* row = std::get_if<Row>(&entry))
        out += core::json_text(core::parse_json(row->text)) + '\n';
    }
  }
  return out;
}

namespace {

// Decides which answer's rows of a name count.
class Owners {
 public:
  explicit Owners(const std::vector<ReplayRows>& answers) {
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const std::string& recipe = answers[i].recipe;
      groups_.push_back(recipe.empty() ? "#" + std::to_string(i) : recipe);
    }
  }

  // Call it for the answers from the last to the first. Removes the rows that do not count.
  void filter(std::size_t answer, std::vector<Insert>& inserts) {
    const std::string& group = groups_[answer];
    const bool is_alone = std::count(groups_.begin(), groups_.end(), group) == 1;
    std::unordered_set<std::string> mine;
    const auto counts = [&](const Insert& insert) {
      const Row& row = *insert.row;
      if (owners_.try_emplace(row.name, group).first->second != group) return false;
      if (is_alone) return true;
      std::string place = (insert.behind_loop ? "> " : "< ") + std::to_string(insert.ordinal) + ' ' + row.at +
                          ' ' + row.name;  // no scope path has a blank
      if (taken_.count(place) != 0) return false;
      mine.insert(std::move(place));
      return true;
    };
    inserts.erase(
        std::remove_if(inserts.begin(), inserts.end(), [&](const Insert& insert) { return !counts(insert); }),
        inserts.end());
    taken_.merge(mine);
  }

 private:
  std::vector<std::string> groups_;                      // of each answer
  std::unordered_map<std::string, std::string> owners_;  // name → the group of the last answer that has it
  std::unordered_set<std::string> taken_;                // the rows that a later answer has
};

}  // namespace

std::vector<Row> joined(const core::Manifest& manifest, std::vector<Row> record,
                        const std::vector<ReplayRows>& answers) {
  if (answers.empty()) return record;  // an index of it would take most of the time
  const Record indexed(std::move(record), manifest);
  const auto ends = block_ends(indexed);
  Owners owners(answers);
  std::vector<Insert> inserts;
  for (std::size_t i = answers.size(); i-- > 0;) {
    auto mine = Placer(indexed, ends, answers[i].last_unit).place(answers[i]);
    owners.filter(i, mine);
    if (!mine.empty()) inserts = merge_inserts(mine, inserts);
  }
  return weave(indexed.rows(), inserts);
}

}  // namespace flor::results
