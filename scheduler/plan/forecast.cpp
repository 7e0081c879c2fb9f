#include "plan/forecast.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "plan/partition.h"

namespace flor::plan {
namespace {

constexpr std::size_t most_forecast = 1024;  // workers

constexpr double worth_cutting = 20;  // seconds of an epoch: two parts of the usual length

// The longest time to expect without earlier replays, as a multiple of the planned time.
constexpr double without_experience = 1.3;
// Seconds. In a shorter replay, most of the time goes to the start of programs, which take each other's
// cores.
constexpr double worth_comparing = 10;
// Advice is given only if the time becomes less than this fraction of the present one.
constexpr double worth_saying = 0.9;

core::Plan cut_for(core::Plan plan, std::size_t workers) {
  cut(plan, workers);
  return plan;
}

std::string seconds_text(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", seconds);
  return text.data();
}

using Range = std::pair<double, double>;

Range range_of(const std::vector<double>& values, Range without_any) {
  if (values.empty()) return without_any;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, *most};
}

// Returns the range of the ratio of actual to planned time, once a worker ran.
Range slowness(const std::vector<Experience>& experience) {
  std::vector<double> ratios;
  for (const auto& one : experience) {
    if (one.planned >= worth_comparing && one.took > one.start)
      ratios.push_back((one.took - one.start) / one.planned);
  }
  return range_of(ratios, {1, without_experience});
}

Range starts(const std::vector<Experience>& experience) {
  std::vector<double> seconds;
  seconds.reserve(experience.size());
  for (const auto& one : experience) seconds.push_back(one.start);
  return range_of(seconds, {0, 0});
}

// Returns the longest selected unit.
const core::Unit& largest(const core::Plan& plan) {
  const auto ids = plan.selected.ids();
  const auto cost = [&](int64_t id) { return plan.units.at(static_cast<std::size_t>(id)).work; };
  const int64_t id =
      *std::max_element(ids.begin(), ids.end(), [&](int64_t a, int64_t b) { return cost(a) < cost(b); });
  return plan.units.at(static_cast<std::size_t>(id));
}

}  // namespace

std::vector<Forecast> forecast(const core::Plan& plan, const std::vector<std::size_t>& workers,
                               const std::vector<Experience>& experience) {
  const Range ratio = slowness(experience);
  const Range start = starts(experience);
  std::vector<Forecast> out;
  for (const std::size_t count : workers) {
    const core::Plan cut = cut_for(plan, count);
    out.push_back({count, cut.bound, std::max(cut.bound, start.first + cut.makespan * ratio.first),
                   std::max(cut.bound, start.second + cut.makespan * ratio.second)});
  }
  return out;
}

std::vector<std::size_t> worker_counts(const core::Plan& plan, std::size_t wanted) {
  std::vector<std::size_t> out;
  const std::size_t most = std::min(plan.selected.size(), most_forecast);
  for (std::size_t count = 1; count < most; count *= 2) out.push_back(count);
  out.push_back(most);
  if (std::find(out.begin(), out.end(), wanted) == out.end()) out.push_back(wanted);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> advice(const core::Plan& plan, std::size_t workers) {
  const double now = cut_for(plan, workers).makespan;
  std::vector<std::pair<double, std::string>> found;  // the seconds that it would take then, and what to do
  if (workers < plan.selected.size()) {
    const double then = cut_for(plan, 2 * workers).makespan;
    found.emplace_back(then, std::to_string(2 * workers) + " workers: about " + seconds_text(then));
  }
  if (!plan.complete) {
    core::Plan complete = plan;
    complete.complete = true;
    const double then = cut_for(complete, workers).makespan;
    found.emplace_back(
        then,
        "a recording with `auto state = flor::checkpointing(...)` in front of the loop, so that no "
        "worker runs through what lies before its units: about " +
            seconds_text(then));
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> out;
  for (const auto& [then, text] : found) {
    if (then < now * worth_saying) out.push_back(text);
  }
  const core::Unit& unit = largest(plan);
  if (unit.work <= now * worth_saying) return out;
  if (unit.last > unit.first) {
    out.push_back("a recording with a larger --flor-epsilon: unit " + std::to_string(unit.id) + ", epochs " +
                  std::to_string(unit.first) + " to " + std::to_string(unit.last) +
                  ", has no checkpoint inside and takes " + seconds_text(unit.work) + " alone");
  } else if (plan.complete && plan.inner.empty() && unit.work >= worth_cutting) {
    out.push_back(
        "a recording with another flor::checkpointing(...) in front of the loop over an epoch's steps, so "
        "that several workers share it: epoch " +
        std::to_string(unit.first) + " takes " + seconds_text(unit.work) + " alone");
  }
  return out;
}

}  // namespace flor::plan
