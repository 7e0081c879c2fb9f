#include "results/rows/frame.h"

#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"

namespace flor::results {
namespace {

using core::Json;
using Loops = std::vector<std::pair<std::string, int64_t>>;

// Returns the first `count` loops as a text that tells iterations apart.
std::string key_of(const Loops& loops, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += loops[i].first + '=' + std::to_string(loops[i].second) + '/';
  return out;
}

// One condition, with the values that it judges.
class Judge {
 public:
  Judge(const std::vector<Row>& rows, const Condition& condition) : condition_(condition) {
    for (const auto& row : rows) {
      const Loops loops = scope_loops(row.at);
      for (const auto& loop : loops) is_loop_ = is_loop_ || loop.first == condition.name;
      if (row.name != condition.name) continue;
      if (const auto number = number_in(row)) {
        bool& holds = holds_.try_emplace(key_of(loops, loops.size()), false).first->second;
        holds = holds || condition.holds(*number);
      }
    }
    if (!is_loop_ && holds_.empty()) {
      throw core::UsageError(
          "--where: '" + condition.name +
          "' is no loop, and no row of that name is a number; flor log RUN shows the names");
    }
  }

  bool holds(const Loops& loops) const {
    if (is_loop_) {
      for (const auto& [name, value] : loops) {
        if (name == condition_.name) return condition_.holds(static_cast<double>(value));
      }
      return false;
    }
    for (std::size_t count = loops.size() + 1; count-- > 0;) {
      const auto found = holds_.find(key_of(loops, count));
      if (found != holds_.end()) return found->second;
    }
    return false;
  }

 private:
  const Condition condition_;
  bool is_loop_ = false;
  std::unordered_map<std::string, bool> holds_;  // by iteration
};

Json json_of(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return number;
}

// The rows of one name in one iteration.
class Group {
 public:
  void add(const Row& row) {
    const Json& value = row.value;
    if (count_++ == 0) first_ = value;
    last_ = value;
    const auto number = number_in(row);
    if (!number) return;
    if (numbers_++ == 0 || is_beyond(*number, least_.first, std::less<>())) least_ = {*number, value};
    if (numbers_ == 1 || is_beyond(*number, most_.first, std::greater<>())) most_ = {*number, value};
    sum_ += *number;
  }

  // std::nullopt where it has no numbers to take together.
  std::optional<Json> value(const std::string& function) const {
    if (function == "count") return count_;
    if (function == "first") return first_;
    if (function == "last") return last_;
    if (numbers_ == 0) return std::nullopt;
    if (function == "min") return least_.second;
    if (function == "max") return most_.second;
    if (function == "sum") return json_of(sum_);
    return json_of(sum_ / static_cast<double>(numbers_));
  }

 private:
  template <class Compare>
  static bool is_beyond(double number, double present, Compare compare) {
    return std::isnan(number) || (!std::isnan(present) && compare(number, present));
  }

  int64_t count_ = 0, numbers_ = 0;
  Json first_, last_;
  std::pair<double, Json> least_, most_;
  double sum_ = 0;
};

// Returns how many of the loops stand around an iteration of `loop`, with it; std::nullopt outside of it.
std::optional<std::size_t> depth_of(const Loops& loops, const std::string& loop) {
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (loops[i].first == loop) return i + 1;
  }
  return std::nullopt;
}

Row row_of(const Loops& loops, std::size_t count, const std::string& name, Json value) {
  Row row;
  row.name = name;
  Json object = {{"name", name}, {"value", value}};
  for (std::size_t i = 0; i < count; ++i) {
    row.at += (i == 0 ? "" : "/") + loops[i].first + '=' + std::to_string(loops[i].second);
    object[loops[i].first] = loops[i].second;
  }
  row.value = std::move(value);
  row.text = core::json_text(object);
  return row;
}

}  // namespace

std::vector<Condition> parse_conditions(const std::string& text) {
  std::vector<Condition> out;
  for (const auto& one : split_conditions(text)) out.push_back(parse_condition(one));
  return out;
}

std::vector<Row> rows_where(std::vector<Row> rows, const std::vector<Condition>& conditions) {
  std::vector<Judge> judges;
  judges.reserve(conditions.size());
  for (const auto& condition : conditions) judges.emplace_back(rows, condition);
  std::vector<Row> out;
  for (auto& row : rows) {
    const Loops loops = scope_loops(row.at);
    bool all = true;
    for (const auto& judge : judges) all = all && judge.holds(loops);
    if (all) out.push_back(std::move(row));
  }
  return out;
}

std::vector<Row> aggregated(const std::vector<Row>& rows, const std::string& loop,
                            const std::string& function) {
  struct Key {
    Loops loops;
    std::size_t depth = 0;
    std::string name;
  };
  std::vector<std::pair<Key, Group>> groups;
  std::unordered_map<std::string, std::size_t> at;
  std::set<std::string> known;
  for (const auto& row : rows) {
    Loops loops = scope_loops(row.at);
    for (const auto& one : loops) known.insert(one.first);
    const auto depth = depth_of(loops, loop);
    if (!depth) continue;
    const auto [place, first] = at.try_emplace(key_of(loops, *depth) + row.name, groups.size());
    if (first) groups.push_back({{std::move(loops), *depth, row.name}, {}});
    groups[place->second].second.add(row);
  }
  if (groups.empty()) {
    std::string all;
    for (const auto& name : known) all += (all.empty() ? "" : ", ") + name;
    throw core::UsageError("--by: no row lies in a loop '" + loop +
                           "'; the loops around these rows: " + (all.empty() ? "none" : all));
  }
  std::vector<Row> out;
  for (const auto& [key, group] : groups) {
    if (auto value = group.value(function))
      out.push_back(row_of(key.loops, key.depth, key.name, std::move(*value)));
  }
  return out;
}

std::vector<Coverage> coverage(const std::vector<Row>& rows, const core::Manifest& manifest,
                               const std::vector<std::string>& names) {
  const core::RecordedLoop* main = manifest.main_loop();
  if (main == nullptr) return {};
  std::map<std::string, std::set<int64_t>> seen;
  for (const auto& row : rows) {
    const Loops loops = scope_loops(row.at);
    if (!loops.empty() && loops.front().first == main->name) seen[row.name].insert(loops.front().second);
  }
  std::vector<Coverage> out;
  for (const auto& name : names) {
    const auto found = seen.find(name);
    if (found == seen.end()) continue;
    out.push_back({name, static_cast<int64_t>(found->second.size()), main->iterations});
  }
  return out;
}

}  // namespace flor::results
