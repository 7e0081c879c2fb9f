#include "queue/share.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace flor::queue {
namespace {

// The least gain of a cut: seconds, plus a fraction of a unit's time. A cut costs a claim, and estimates are
// never exact.
constexpr double least_gain = 0.005, least_gain_of_unit = 0.05;
// A copy does work twice, so it must end clearly before the original: a factor and seconds.
constexpr double copy_margin = 1.1, copy_seconds = 0.2;
// A safety margin before the end of a worker's time, as a fraction: a unit that is not committed then is
// lost.
constexpr double late_margin = 0.25;

double need(const Times& times, const Running& one) {
  return times.lead_in(one.from, one.cur) + times.work(one.cur, one.cur + 1);
}

// Returns the measured speed, or the speed that the present unit shows so far, if that is lower.
double speed_of(const Times& times, const Running& one) {
  const double work = need(times, one);
  return one.elapsed > 0 && work > 0 ? std::min(one.speed, work / one.elapsed) : one.speed;
}

// Returns the seconds until the present unit is done. A unit that is late counts as taking as long again as
// it is late.
double rest_of_unit(const Times& times, const Running& one) {
  return std::abs(need(times, one) / one.speed - one.elapsed);
}

double median_speed(const std::vector<Running>& running, const Idle& idle) {
  std::vector<double> known;
  for (const auto& one : running) {
    if (one.speed > 0) known.push_back(one.speed);
  }
  if (idle.speed > 0) known.push_back(idle.speed);
  if (known.empty()) return 1;
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::nth_element(known.begin(), middle, known.end());
  return *middle;
}

// Returns the seconds that the idle worker needs for units `at` … `hi`-1.
double seconds_for(const Times& times, const Idle& idle, int64_t at, int64_t hi) {
  return (times.lead_in(idle.from, at) + times.work(at, hi)) / idle.speed;
}

// Returns the cut at which both parts end soonest. A later cut makes the victim end later and the idle worker
// end sooner, so a binary search finds it.
std::optional<int64_t> best_cut(const Times& times, const Running& one, const Idle& idle) {
  const int64_t first = std::max(one.cur + 1, idle.from);
  if (first >= one.hi) return std::nullopt;
  const double rest = rest_of_unit(times, one);
  const double speed = speed_of(times, one);
  const auto kept = [&](int64_t at) { return rest + times.work(one.cur + 1, at) / speed; };
  const auto taken = [&](int64_t at) { return seconds_for(times, idle, at, one.hi); };
  int64_t low = first;
  int64_t high = one.hi - 1;
  while (low < high) {  // Find the first cut at which the victim ends last.
    const int64_t middle = low + (high - low) / 2;
    if (kept(middle) >= taken(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const auto end = [&](int64_t at) { return std::max(kept(at), taken(at)); };
  const int64_t at = low > first && end(low - 1) < end(low) ? low - 1 : low;
  const double gain = expected_end(times, one) - end(at);
  const double margin = least_gain + least_gain_of_unit * times.work(at, at + 1) / idle.speed;
  return gain > margin ? std::optional(at) : std::nullopt;
}

bool worth_a_copy(const Times& times, const Running& one, const Idle& idle) {
  if (one.copied || one.hi - one.cur != 1 || one.cur < idle.from || one.hi == times.units()) return false;
  return seconds_for(times, idle, one.cur, one.hi) * copy_margin + copy_seconds < rest_of_unit(times, one);
}

}  // namespace

Times::Times(const core::Plan& plan) : complete_(plan.complete) {
  work_.push_back(0);
  skip_.push_back(0);
  for (const auto& unit : plan.units) {
    const bool selected = plan.selected.contains(unit.id);
    work_.push_back(work_.back() + unit.work);
    skip_.push_back(skip_.back() + (selected ? std::min(unit.skip_cost, unit.work) : unit.skip_cost));
  }
}

int64_t Times::units() const {
  return static_cast<int64_t>(work_.size()) - 1;
}

double Times::work(int64_t first, int64_t end) const {
  return work_.at(static_cast<std::size_t>(end)) - work_.at(static_cast<std::size_t>(first));
}

double Times::lead_in(int64_t from, int64_t to) const {
  if (complete_) return 0;
  const auto begin = static_cast<std::size_t>(std::max<int64_t>(from, 0));
  return std::max(0.0, skip_.at(static_cast<std::size_t>(to)) - skip_.at(begin));
}

int64_t done_within(const Times& times, int64_t from, core::UnitRange range, double seconds) {
  const double usable = seconds / (1 + late_margin);
  int64_t end = range.first;
  while (end < range.second && times.lead_in(from, range.first) + times.work(range.first, end + 1) <= usable)
    ++end;
  return end;
}

double expected_end(const Times& times, const Running& running) {
  return rest_of_unit(times, running) + times.work(running.cur + 1, running.hi) / speed_of(times, running);
}

double latest_end(const Times& times, const std::vector<Running>& running) {
  const double usual = median_speed(running, {});
  double latest = 0;
  for (Running one : running) {
    if (one.speed <= 0) one.speed = usual;
    latest = std::max(latest, expected_end(times, one));
  }
  return latest;
}

std::optional<Share> share(const Times& times, const std::vector<Running>& running, const Idle& idle) {
  const double usual = median_speed(running, idle);
  Idle taker = idle;
  if (taker.speed <= 0) taker.speed = usual;
  std::vector<Running> known = running;
  for (auto& one : known) {
    if (one.speed <= 0) one.speed = usual;
  }
  std::vector<std::pair<double, std::size_t>> by_end;
  for (std::size_t i = 0; i < known.size(); ++i) by_end.emplace_back(expected_end(times, known[i]), i);
  std::sort(by_end.rbegin(), by_end.rend());
  for (const auto& [end, i] : by_end) {
    if (const auto at = best_cut(times, known[i], taker)) return Share{i, *at, false};
  }
  for (const auto& [end, i] : by_end) {
    if (idle.copies && worth_a_copy(times, known[i], taker)) return Share{i, known[i].cur, true};
  }
  return std::nullopt;
}

double proof_cost(const core::Plan& plan) {
  if (plan.units.empty()) return 0;
  const auto units = static_cast<double>(plan.units.size());
  double lead_in = 0, replayed = 0, recorded = 0;
  for (const auto& unit : plan.units) {
    lead_in += plan.complete ? unit.restore : unit.skip_cost / 2 * units;
    replayed += unit.work;
    recorded += unit.cost;
  }
  const double each = plan.brief ? replayed + *plan.brief * units : recorded;
  return (2 * each + lead_in) / units;
}

int64_t proof_within(const core::Plan& plan, int64_t id, double seconds) {
  return proof_cost(plan) * (1 + late_margin) <= seconds ? id + 1 : id;
}

}  // namespace flor::queue
