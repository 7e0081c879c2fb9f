#include "results/work.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/base/error.h"
#include "core/base/json_values.h"
#include "core/files/directory.h"
#include "core/files/durable.h"
#include "core/files/json_lines.h"
#include "core/files/trusted_file.h"
#include "core/store/presence.h"

namespace flor::results {
namespace {

using core::Json;

constexpr const char* work_suffix = ".work.jsonl";
// Bytes of all work files of another user's replay, which take some ten times as much memory.
constexpr std::uintmax_t most_foreign_work = std::uintmax_t{64} << 20;
// The least that a file counts for, so that there cannot be a million small ones.
constexpr std::uintmax_t least_charged = 4096;
// What a foreign worker says of itself, in bytes.
constexpr std::uintmax_t most_foreign_about = std::uintmax_t{64} << 10;

// Returns the units in the order in which they began; the line of a unit that was committed takes the place
// of the one of its beginning.
std::vector<UnitWork> units_of(const std::vector<Json>& lines) {
  std::vector<UnitWork> out;
  for (const auto& line : lines) {
    UnitWork unit;
    unit.unit = core::field<int64_t>(line, "unit", -1);
    unit.began = core::field<double>(line, "began", 0);
    unit.restore = core::field<double>(line, "restore", 0);
    const auto seconds = line.find("seconds");
    if (seconds != line.end() && seconds->is_number()) unit.seconds = seconds->get<double>();
    if (unit.unit < 0 || unit.began <= 0) continue;
    if (unit.seconds && !out.empty() && out.back().unit == unit.unit && !out.back().seconds) {
      out.back() = unit;
    } else {
      out.push_back(unit);
    }
  }
  return out;
}

// Reads a file, and takes its size, or that of its values, from `left` where it is another user's. Throws
// core::Error where no more is left.
std::string read_charged(const core::fs::path& path, std::uintmax_t most, std::uintmax_t& left) {
  const core::Descriptor file = core::open_regular(path);
  std::string text = core::read_regular(file, path, core::any_size, most);
  if (!core::is_foreign(file)) return text;
  const std::uintmax_t charged = core::charged_bytes(text);
  const bool fits = charged <= left;
  left -= std::min(left, charged);
  if (!fits) throw core::Error(path.string() + " holds too many values");
  return text;
}

bool is_running(const UnitWork& unit) {
  return !unit.seconds && !unit.given_up;
}

// The units that are done, and how long they took as a multiple of what the plan expected, ascending.
struct Done {
  std::set<int64_t> units;
  std::vector<double> ratios;
};

Done done_of(const std::vector<WorkerWork>& workers, const core::Plan& plan) {
  Done out;
  for (const auto& worker : workers) {
    for (const auto& unit : worker.units) {
      if (!unit.seconds) continue;
      out.units.insert(unit.unit);
      if (unit.unit >= static_cast<int64_t>(plan.units.size())) continue;
      const double expected = plan.units[static_cast<std::size_t>(unit.unit)].work;
      if (expected > 0) out.ratios.push_back(*unit.seconds / expected);
    }
  }
  std::sort(out.ratios.begin(), out.ratios.end());
  return out;
}

// The units that run now, with the seconds that each has taken so far.
std::map<int64_t, double> running_of(const std::vector<WorkerWork>& workers, double now) {
  std::map<int64_t, double> out;
  for (const auto& worker : workers) {
    if (!worker.units.empty() && is_running(worker.units.back()))
      out[worker.units.back().unit] = std::max(0.0, now - worker.units.back().began);
  }
  return out;
}

// Returns the seconds that the units which are left take, if each takes `ratio` times what the plan expects.
double left_at(double ratio, const core::Plan& plan, const std::set<int64_t>& done,
               const std::map<int64_t, double>& running) {
  double sum = 0, longest = 0;
  for (const int64_t id : plan.selected.ids()) {
    if (done.count(id) != 0) continue;
    const auto runs = running.find(id);
    const double so_far = runs == running.end() ? 0 : runs->second;
    const double rest = std::max(0.0, plan.units[static_cast<std::size_t>(id)].work * ratio - so_far);
    sum += rest;
    longest = std::max(longest, rest);
  }
  const auto at_once = static_cast<double>(std::max<std::size_t>(running.size(), 1));
  return std::max(sum / at_once, longest);
}

Json row_of(const UnitWork& unit) {
  return Json::array({unit.unit, unit.began, unit.seconds ? Json(*unit.seconds) : Json(), unit.restore,
                      unit.given_up ? Json(*unit.given_up) : Json()});
}

}  // namespace

void find_given_up(std::vector<WorkerWork>& workers) {
  // Of each unit, when executions that were committed began and ended.
  std::map<int64_t, std::vector<double>> moments;
  for (const auto& worker : workers) {
    for (const auto& unit : worker.units) {
      if (unit.seconds)
        moments[unit.unit].insert(moments[unit.unit].end(), {unit.began, unit.began + *unit.seconds});
    }
  }
  for (auto& [unit, times] : moments) std::sort(times.begin(), times.end());
  for (auto& worker : workers) {
    for (std::size_t i = 0; i < worker.units.size(); ++i) {
      UnitWork& unit = worker.units[i];
      if (unit.seconds) continue;
      if (i + 1 < worker.units.size()) unit.given_up = worker.units[i + 1].began;
      // The first of them that lies behind this beginning: another worker had begun, or was done.
      const auto& times = moments[unit.unit];
      const auto next = std::upper_bound(times.begin(), times.end(), unit.began);
      if (next != times.end()) unit.given_up = std::min(unit.given_up.value_or(*next), *next);
    }
  }
}

std::vector<WorkerWork> read_work(const core::ReplayDir& replay) {
  const std::string suffix = work_suffix;
  std::vector<WorkerWork> out;
  std::uintmax_t left = most_foreign_work;
  std::error_code ignored;
  for (const auto& [path, is_link] : core::entries_of(replay.workers(), ignored)) {
    const std::string name = path.filename().string();
    if (left == 0) break;
    if (name.size() <= suffix.size() || name.substr(name.size() - suffix.size()) != suffix) continue;
    WorkerWork worker;
    worker.worker = name.substr(0, name.size() - suffix.size());
    // In front of what may fail, a million times.
    if (core::is_foreign(path)) left -= std::min(left, least_charged);
    try {
      worker.units = units_of(core::parse_json_lines(read_charged(path, left, left), name).rows);
      const Json about = core::parse_json(
          read_charged(replay.workers() / (worker.worker + ".json"), most_foreign_about, left));
      for (const auto& [key, text] : {std::pair{"node", &worker.node},
                                      {"gpu", &worker.gpu},
                                      {"job", &worker.job},
                                      {"task", &worker.task}})
        *text = core::field<std::string>(about, key, "");
    } catch (const std::exception&) {
      // Shows the part that was read.
    }
    out.push_back(std::move(worker));
  }
  std::sort(out.begin(), out.end(),
            [](const WorkerWork& a, const WorkerWork& b) { return a.worker < b.worker; });
  find_given_up(out);
  return out;
}

bool goes_on(const core::ReplayDir& replay) {
  if (core::may_be_present(replay.path / ".answering.lock")) return true;
  std::error_code ignored;
  for (const auto& [path, is_link] : core::entries_of(replay.workers(), ignored)) {
    if (path.extension() == ".lock" && core::may_be_present(path)) return true;
  }
  return false;
}

double WorkTotals::idle() const {
  return std::max(0.0, held - worked - redone);
}

WorkTotals totals_of(const std::vector<WorkerWork>& workers, const core::Plan& plan,
                     std::optional<double> now) {
  WorkTotals out;
  double first = 0, last = 0;
  std::vector<std::tuple<double, int64_t, double>> ends;  // end, unit, seconds
  for (const auto& worker : workers) {
    double end = 0;
    for (const auto& unit : worker.units) {
      out.restored += unit.restore;
      if (unit.seconds) {
        ends.emplace_back(unit.began + *unit.seconds, unit.unit, *unit.seconds);
        end = std::max(end, unit.began + *unit.seconds);
      } else if (unit.given_up) {
        out.redone += std::max(0.0, *unit.given_up - unit.began);
        end = std::max(end, *unit.given_up);
      } else if (now) {
        out.worked += std::max(0.0, *now - unit.began);
        end = std::max(end, *now);
      }
    }
    if (worker.units.empty()) continue;
    const double begin = worker.units.front().began;
    out.held += std::max(0.0, end - begin);
    first = first == 0 ? begin : std::min(first, begin);
    last = std::max(last, end);
  }
  if (first > 0) out.elapsed = std::max(0.0, (now ? std::max(*now, last) : last) - first);
  std::sort(ends.begin(), ends.end());
  std::set<int64_t> counted;
  for (const auto& [end, unit, seconds] : ends)
    (counted.insert(unit).second ? out.worked : out.redone) += seconds;

  const Done done = done_of(workers, plan);
  if (!now || done.ratios.empty()) return out;
  const auto running = running_of(workers, *now);
  const std::size_t quarter = done.ratios.size() / 4;
  const double fast = left_at(done.ratios[quarter], plan, done.units, running);
  const double slow = left_at(done.ratios[done.ratios.size() - 1 - quarter], plan, done.units, running);
  if (slow > 0) out.left = {fast, slow};
  return out;
}

Json to_json(const std::vector<WorkerWork>& workers, const WorkTotals& totals) {
  Json all = Json::array();
  for (const auto& worker : workers) {
    Json units = Json::array();
    for (const auto& unit : worker.units) units.push_back(row_of(unit));
    all.push_back({{"worker", worker.worker},
                   {"node", worker.node},
                   {"gpu", worker.gpu},
                   {"job", worker.job},
                   {"task", worker.task},
                   {"units", std::move(units)}});
  }
  return {{"workers", std::move(all)},
          {"totals",
           {{"elapsed", totals.elapsed},
            {"held", totals.held},
            {"worked", totals.worked},
            {"restored", totals.restored},
            {"redone", totals.redone},
            {"idle", totals.idle()},
            {"left", totals.left ? Json::array({totals.left->first, totals.left->second}) : Json()}}}};
}

}  // namespace flor::results
