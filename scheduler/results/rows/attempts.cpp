#include "results/rows/attempts.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"

namespace flor::results {
namespace {

// A recording names each row about once. A log that another user made up may do otherwise, so that its reader
// would never come to an end.
constexpr std::size_t most_visits_a_row = 100;

// Does a row at `at` belong to a step that the event keeps? Example: "epoch=3/train#0/step=12/…" does, for
// the loop "epoch=3/train#0/step" before 13.
bool is_in_kept_step(const KeptEvent& event, const std::string& at) {
  if (at.size() <= event.at.size() || at[event.at.size()] != '=') return false;
  const auto elements = scope_elements(std::string_view(at).substr(event.at.rfind('/') + 1));
  return elements.front().value < event.before;
}

// Rows of a place, in reverse program order: an attempt replaces the first rows and leaves the later ones.
using Places = std::vector<std::size_t>;

// A row, and the lists that it stands in.
struct Item {
  Row* row = nullptr;
  Places* equals = nullptr;     // of its path and name
  Places* path = nullptr;       // of its path
  Places* iteration = nullptr;  // of its iteration of an outermost loop; nullptr: of none
  std::size_t position = 0;     // in the rows of all attempts so far
  std::size_t kept_by = 0;      // the last attempt that an event kept it for
};

// Takes time for the lines of each attempt, for the rows that its events keep, and for those that it
// replaces, but none for the rows that stay: a log may have thousands of attempts and a long rest.
class Splice {
 public:
  explicit Splice(std::size_t* steps) : steps_(steps) {}

  // `is_last`: no other follows.
  void add(Attempt& later, bool is_last) {
    ++attempt_;
    visits_ = 0;
    reached_ = rows_.size();
    taken_iterations_.clear();
    std::vector<std::size_t> front;
    Ordinals ordinals;
    for (auto& entry : later.entries) {
      if (auto* row = std::get_if<Row>(&entry)) {
        // Of a run that was never resumed, no row needs a key.
        if (!rows_.empty()) reach_equal(*row, ordinals);
        items_.push_back({row});
        front.push_back(items_.size() - 1);
      } else {
        keep(std::get<KeptEvent>(entry), front);
      }
    }
    for (auto& path : taken_paths_) by_path_.insert(std::move(path));
    taken_paths_.clear();
    replace_first(later.ended ? 0 : reached_, front, !is_last);
  }

  std::vector<Row> take() {
    std::vector<Row> out;
    out.reserve(rows_.size());
    for (auto at = rows_.rbegin(); at != rows_.rend(); ++at) out.push_back(std::move(*items_[*at].row));
    return out;
  }

 private:
  static std::string key(const Row& row) { return row.at + '\n' + row.name; }

  void spend(std::size_t steps) {
    if (steps_ == nullptr) return;
    if (steps > *steps_) {
      *steps_ = 0;
      throw core::Error("its attempts name too many rows of earlier ones for its length");
    }
    *steps_ -= steps;
  }

  // The attempt has come to the place before this earlier row's successor.
  void reach(std::size_t item) { reached_ = std::min(reached_, items_[item].position); }

  void reach_equal(const Row& row, Ordinals& ordinals) {
    const auto ordinal = static_cast<std::size_t>(ordinals.next(row.at, row.name));
    const auto equals = by_key_.find(key(row));
    if (equals == by_key_.end() || ordinal >= equals->second.size()) return;
    reach(equals->second[equals->second.size() - 1 - ordinal]);
  }

  // Each row is kept once, however often events name it: a log of n lines has at most n rows.
  void keep(const KeptEvent& event, std::vector<std::size_t>& front) {
    Places kept = event.at.empty() ? take_iterations(event) : take_paths(event);
    const auto stands_before = [this](std::size_t a, std::size_t b) {
      return items_[a].position > items_[b].position;
    };
    if (!std::is_sorted(kept.begin(), kept.end(), stands_before))
      std::sort(kept.begin(), kept.end(), stands_before);
    for (const std::size_t item : kept) {
      if (std::exchange(items_[item].kept_by, attempt_) == attempt_) continue;
      front.push_back(item);
      reach(item);
    }
  }

  void take(const Places& places, Places& rows) {
    spend(places.size());
    rows.insert(rows.end(), places.rbegin(), places.rend());
  }

  Places take_iterations(const KeptEvent& event) {
    Places rows;
    const auto loop = by_iteration_.find(event.loop);
    if (loop == by_iteration_.end()) return rows;
    const auto& iterations = loop->second;
    const auto [taken, is_first] = taken_iterations_.try_emplace(event.loop, event.before);
    auto at = is_first ? iterations.begin() : iterations.lower_bound(taken->second);
    for (; at != iterations.end() && at->first < event.before; ++at) take(at->second, rows);
    taken->second = std::max(taken->second, event.before);
    return rows;
  }

  Places take_paths(const KeptEvent& event) {
    Places rows;
    auto path = by_path_.lower_bound(event.at);
    while (path != by_path_.end() && path->first.compare(0, event.at.size(), event.at) == 0) {
      if (++visits_ > most_visits_a_row * (rows_.size() + 1))
        throw core::Error("its events name the same rows again and again; no recording writes that");
      spend(1);
      if (event.before > 0 ? is_in_kept_step(event, path->first) : lies_in(path->first, event.at)) {
        take(path->second, rows);
        taken_paths_.push_back(by_path_.extract(path++));
      } else {
        ++path;
      }
    }
    return rows;
  }

  // Puts `front` in the place of the rows from `end` on, which come first in the program.
  void replace_first(std::size_t end, const std::vector<std::size_t>& front, bool is_indexed) {
    Places dropped;
    while (rows_.size() > end) {
      const std::size_t item = rows_.back();
      rows_.pop_back();
      if (!is_indexed) continue;
      const Item& old = items_[item];
      for (Places* list : {old.equals, old.path, old.iteration})
        if (list != nullptr) list->pop_back();
      if (old.kept_by != attempt_) dropped.push_back(item);
    }
    for (auto at = front.rbegin(); at != front.rend(); ++at) {
      Item& item = items_[*at];
      item.position = rows_.size();
      rows_.push_back(*at);
      if (!is_indexed) continue;
      if (item.path == nullptr) index(item);
      for (Places* list : {item.equals, item.path, item.iteration})
        if (list != nullptr) list->push_back(*at);
    }
    for (const std::size_t item : dropped) forget(*items_[item].row);
  }

  void index(Item& item) {
    item.equals = &by_key_[key(*item.row)];
    item.path = &by_path_[item.row->at];
    const auto elements = scope_elements(item.row->at);
    if (!elements.empty() && elements.front().loop)
      item.iteration = &by_iteration_[std::string(elements.front().name)][elements.front().value];
  }

  // Removes the lists of a dropped row that are empty now: no event needs to look at them.
  void forget(const Row& row) {
    const auto equals = by_key_.find(key(row));
    if (equals != by_key_.end() && equals->second.empty()) by_key_.erase(equals);
    const auto path = by_path_.find(row.at);
    if (path != by_path_.end() && path->second.empty()) by_path_.erase(path);
    const auto elements = scope_elements(row.at);
    if (elements.empty() || !elements.front().loop) return;
    const auto loop = by_iteration_.find(std::string(elements.front().name));
    if (loop == by_iteration_.end()) return;
    const auto iteration = loop->second.find(elements.front().value);
    if (iteration != loop->second.end() && iteration->second.empty()) loop->second.erase(iteration);
    if (loop->second.empty()) by_iteration_.erase(loop);
  }

  std::size_t* steps_;
  std::vector<Item> items_;
  // The rows of all attempts so far, in reverse program order. An item's position is its place here.
  Places rows_;
  std::unordered_map<std::string, Places> by_key_;
  std::map<std::string, Places> by_path_;
  // By the name of the outermost loop and its value.
  std::unordered_map<std::string, std::map<int64_t, Places>> by_iteration_;
  // Of the present attempt: what its events have named already. Of each loop, the iterations before this one.
  std::vector<std::map<std::string, Places>::node_type> taken_paths_;
  std::unordered_map<std::string, int64_t> taken_iterations_;
  std::size_t attempt_ = 0;
  std::size_t visits_ = 0;   // of paths that events name
  std::size_t reached_ = 0;  // the position of the last earlier row that the attempt has come past
};

}  // namespace

std::vector<Row> spliced(std::vector<Attempt> attempts, std::size_t* steps) {
  // One that was ended at once changes nothing.
  const auto changes = [](const Attempt& attempt) { return !attempt.entries.empty() || attempt.ended; };
  while (!attempts.empty() && !changes(attempts.back())) attempts.pop_back();
  Splice splice(steps);
  for (auto& attempt : attempts)
    if (changes(attempt)) splice.add(attempt, &attempt == &attempts.back());
  return splice.take();
}

}  // namespace flor::results
