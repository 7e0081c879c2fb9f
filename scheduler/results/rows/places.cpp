#include "results/rows/places.h"

#include <algorithm>

namespace flor::results {
namespace {

std::string key_of(Side side, const std::string& at, const std::string& name, int64_t ordinal) {
  return std::to_string(static_cast<int>(side)) + '\n' + at + '\n' + name + '\n' + std::to_string(ordinal);
}

std::string pattern_key(const std::string& at, const std::string& name) {
  return scope_pattern(at) + '\n' + name;
}

// Returns the outermost loop of a path. A loop inside a block does not count.
std::optional<ScopeElement> outermost_loop(std::string_view at) {
  const auto elements = scope_elements(at.substr(0, at.find('/')));
  if (elements.empty() || !elements.front().loop) return std::nullopt;
  return elements.front();
}

}  // namespace

Record::Record(std::vector<Row> rows, const core::Manifest& manifest) : rows_(std::move(rows)) {
  const core::RecordedLoop* main = manifest.main_loop();
  bool before = true;
  for (const auto& loop : manifest.loops) {
    if (&loop == main) {
      main_ = loop.name;
      inner_ = loop.inner;
      before = false;
    } else {
      others_.emplace(loop.name, before ? Side::before : Side::after);
    }
  }
  split();
  if (!inner_.empty()) split_steps();
  index();
}

std::optional<int64_t> Record::iteration_of(const std::string& at) const {
  const auto loop = outermost_loop(at);
  if (!loop || main_.empty() || loop->name != main_) return std::nullopt;
  return loop->value;
}

std::optional<int64_t> Record::step_of(const std::string& at) const {
  const auto inside = at.find('/');
  if (inner_.empty() || inside == std::string::npos || !iteration_of(at)) return std::nullopt;
  if (at.compare(inside + 1, inner_.size(), inner_) != 0) return std::nullopt;
  const auto equals = inside + 1 + inner_.size();
  if (equals >= at.size() || at[equals] != '=') return std::nullopt;
  const auto elements = scope_elements(std::string_view(at).substr(at.rfind('/', equals) + 1));
  return elements.front().value;
}

std::optional<int64_t> Record::part_of(std::size_t row) const {
  if (const auto step = step_of(rows_[row].at)) return step;
  const auto steps = steps_.find(iterations_[row]);
  if (steps == steps_.end()) return std::nullopt;
  return row < steps->second.first ? in_front : behind;
}

std::optional<Side> Record::other_loop(const std::string& at) const {
  const auto loop = outermost_loop(at);
  if (!loop) return std::nullopt;
  auto found = others_.find(std::string(loop->name));
  if (found == others_.end()) return std::nullopt;
  return found->second;
}

void Record::split() {
  sides_.assign(rows_.size(), Side::before);
  iterations_.assign(rows_.size(), 0);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto iteration = iteration_of(rows_[i].at);
    if (!iteration) {
      sides_[i] = splits_ ? Side::after : Side::before;
      continue;
    }
    splits_ = true;
    sides_[i] = Side::within;
    iterations_[i] = *iteration;
    starts_.emplace(*iteration, i);
    behind_ = i + 1;
  }
}

void Record::split_steps() {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto step = sides_[i] == Side::within ? step_of(rows_[i].at) : std::nullopt;
    if (!step) continue;
    Steps& steps = steps_.try_emplace(iterations_[i], Steps{i, i, {}}).first->second;
    steps.starts.emplace(*step, i);
    steps.end = i + 1;
  }
}

void Record::index() {
  by_key_.reserve(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    const int64_t ordinal = counts_[static_cast<int>(sides_[i])].next(row.at, row.name);
    by_key_.emplace(key_of(sides_[i], row.at, row.name, ordinal), i);
    patterns_.insert(pattern_key(row.at, row.name));
  }
}

std::optional<std::size_t> Record::find(Side side, const std::string& at, const std::string& name,
                                        int64_t ordinal) const {
  auto found = by_key_.find(key_of(side, at, name, ordinal));
  if (found == by_key_.end()) return std::nullopt;
  return found->second;
}

int64_t Record::count(Side side, const std::string& at, const std::string& name) const {
  return counts_[static_cast<int>(side)].count(at, name);
}

bool Record::has(const std::string& at, const std::string& name) const {
  return patterns_.count(pattern_key(at, name)) != 0;
}

std::size_t Record::start_of(int64_t iteration, int64_t from) const {
  const auto steps = steps_.find(iteration);
  if (from >= 0 && steps != steps_.end()) {
    const auto at = steps->second.starts.lower_bound(from);
    return at == steps->second.starts.end() ? steps->second.end : at->second;
  }
  auto found = starts_.lower_bound(iteration);
  return found == starts_.end() ? behind_ : found->second;
}

void Matcher::begin(const UnitLog& unit) {
  unit_ = &unit;
  within_.clear();
  behind_ = unit.id == last_unit_ && unit.id != 0;
  saw_first_unit_ = saw_first_unit_ || unit.id == 0;
  if (behind_ && !record_.splits() && !saw_first_unit_) align_with_end();
}

// Here nothing separates the record's rows before the loop from those after it, and unit 0 is not there to
// count the former. So assume that the rows of the last unit are the last ones of their name.
void Matcher::align_with_end() {
  Ordinals here;
  std::vector<const Row*> names;
  for (const auto& entry : unit_->entries) {
    const Row* row = std::get_if<Row>(&entry);
    if (row == nullptr || record_.iteration_of(row->at)) continue;
    if (here.next(row->at, row->name) == 0) names.push_back(row);
  }
  for (const Row* row : names) {
    const int64_t others = record_.count(Side::before, row->at, row->name) - here.count(row->at, row->name);
    outside_[static_cast<int>(Side::before)].skip(row->at, row->name, std::max<int64_t>(0, others));
  }
}

Side Matcher::side_of(const std::string& at) const {
  if (record_.iteration_of(at)) return Side::within;
  if (auto other = record_.other_loop(at)) return *other;
  return behind_ ? Side::after : Side::before;
}

bool Matcher::belongs(const std::string& at) const {
  if (auto iteration = record_.iteration_of(at)) {
    if (*iteration < unit_->first || *iteration > unit_->last) return false;
    const auto step = record_.step_of(at);
    if (!step) return unit_->first < unit_->last || unit_->from < 0 || unit_->to < 0;
    return (*iteration > unit_->first || *step >= unit_->from) &&
           (*iteration < unit_->last || unit_->to < 0 || *step < unit_->to);
  }
  return side_of(at) == Side::before ? unit_->id == 0 : unit_->id == last_unit_;
}

Found Matcher::find(const Row& row) {
  Found found;
  found.strayed = !belongs(row.at);
  found.added = !record_.has(row.at, row.name);
  const Side side = bucket(side_of(row.at));
  if (side == Side::within) behind_ = true;
  if (found.strayed || found.added) return found;
  Ordinals& ordinals = side == Side::within ? within_ : outside_[static_cast<int>(side)];
  found.recorded = record_.find(side, row.at, row.name, ordinals.next(row.at, row.name));
  return found;
}

void Matcher::see(const BlockEvent& event) {
  if (record_.iteration_of(event.at)) behind_ = true;
}

}  // namespace flor::results
