#include "plan/partition.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace flor::plan {
namespace {

// The units with prefix sums, so that the time of any segment is known at once.
class Chain {
 public:
  explicit Chain(const Work& work) : work_(work), prefix_(work.cost.size() + 1, 0.0) {
    std::partial_sum(work.cost.begin(), work.cost.end(), prefix_.begin() + 1);
    for (std::size_t at = 0; at <= size(); ++at) {
      const bool better = at == 0 || head_start(at) >= head_start(best_from_.back());
      best_from_.push_back(better ? at : best_from_.back());
    }
  }

  std::size_t size() const { return work_.cost.size(); }
  double start(std::size_t at) const { return at < work_.start.size() ? work_.start[at] : 0.0; }
  double seconds(std::size_t from, std::size_t to, double speed) const {
    return from == to ? 0.0 : (start(from) + prefix_[to] - prefix_[from]) / speed;
  }

  // Returns the farthest end of a segment from `from` that takes at most `limit`.
  std::size_t reach(std::size_t from, double speed, double limit) const {
    const double until = prefix_[from] + limit * speed - start(from);
    const auto end =
        std::upper_bound(prefix_.begin() + static_cast<std::ptrdiff_t>(from), prefix_.end(), until);
    const auto at = static_cast<std::size_t>(end - prefix_.begin());
    return at <= from ? from : at - 1;
  }

  // Returns segments in chain order, one per needed worker, each within `limit`; nullopt if this is
  // impossible. Each worker can reach every position up to its farthest one, so only the farthest positions
  // matter.
  std::optional<std::vector<Segment>> within(double limit, const std::vector<double>& speeds) const {
    std::vector<std::size_t> farthest{0};  // after k workers
    std::vector<std::size_t> from;         // where worker k starts to get there
    while (farthest.back() < size()) {
      if (from.size() == speeds.size()) return std::nullopt;
      const double speed = speeds[from.size()];
      const std::size_t begin = best_from_[farthest.back()];
      farthest.push_back(std::max(farthest.back(), reach(begin, speed, limit)));
      from.push_back(begin);
    }
    return walk_back(from);
  }

 private:
  // A measure of how far a worker that starts there gets: it reaches farthest from the position with the
  // largest value.
  double head_start(std::size_t at) const { return prefix_[at] - start(at); }

  // Makes the segments from the last to the first: worker k ends where its successor starts.
  std::vector<Segment> walk_back(const std::vector<std::size_t>& from) const {
    std::vector<Segment> segments;
    std::size_t end = size();
    for (std::size_t k = from.size(); k-- > 0 && end > 0;) {
      const std::size_t begin = std::min(from[k], end);
      if (begin == end) continue;
      segments.emplace_back(begin, end);
      end = begin;
    }
    std::reverse(segments.begin(), segments.end());
    return segments;
  }

  const Work& work_;
  std::vector<double> prefix_;
  std::vector<std::size_t> best_from_;  // for each position: the best start at or before it
};

// Cuts the longest segment where its halves are most equal, until there is one per worker. If starts cost no
// more than the units before them, no schedule gets longer.
void split_up(std::vector<Segment>& segments, std::size_t workers, const Chain& chain) {
  while (segments.size() < std::min(workers, chain.size())) {
    auto longest = segments.end();
    for (auto at = segments.begin(); at != segments.end(); ++at) {
      if (at->second - at->first < 2) continue;
      if (longest == segments.end() ||
          chain.seconds(at->first, at->second, 1) > chain.seconds(longest->first, longest->second, 1)) {
        longest = at;
      }
    }
    if (longest == segments.end()) return;
    const std::size_t begin = longest->first, end = longest->second;
    std::size_t cut = begin + 1;
    auto worse = [&](std::size_t at) {
      return std::max(chain.seconds(begin, at, 1), chain.seconds(at, end, 1));
    };
    for (std::size_t at = begin + 2; at < end; ++at) {
      if (worse(at) < worse(cut)) cut = at;
    }
    longest->second = cut;
    segments.insert(longest + 1, {cut, end});
  }
}

}  // namespace

std::vector<Segment> partition(const Work& work, const std::vector<double>& speeds) {
  if (work.cost.empty() || speeds.empty()) return {};
  const Chain chain(work);
  const double fastest = *std::max_element(speeds.begin(), speeds.end());
  std::vector<Segment> best{{0, chain.size()}};
  double high = chain.seconds(0, chain.size(), speeds.front());  // the first worker alone
  double low = std::min(high, *std::max_element(work.cost.begin(), work.cost.end()) / fastest) * (1 - 1e-9);
  for (int step = 0; step < 64 && high - low > 1e-12 * high; ++step) {
    const double limit = low + (high - low) / 2;
    if (auto segments = chain.within(limit, speeds)) {
      best = std::move(*segments);
      high = limit;
    } else {
      low = limit;
    }
  }
  split_up(best, speeds.size(), chain);
  std::stable_sort(best.begin(), best.end(), [&](const Segment& a, const Segment& b) {
    return chain.seconds(a.first, a.second, 1) > chain.seconds(b.first, b.second, 1);
  });
  return best;
}

double seconds_of(const Work& work, const Segment& segment, double speed) {
  return Chain(work).seconds(segment.first, segment.second, speed);
}

double makespan(const Work& work, const std::vector<Segment>& segments, const std::vector<double>& speeds) {
  const Chain chain(work);
  std::vector<double> busy(speeds.size(), 0.0);
  for (const auto& segment : segments) {
    std::size_t next = 0;
    for (std::size_t k = 1; k < busy.size(); ++k) {
      if (busy[k] < busy[next]) next = k;
    }
    busy[next] += chain.seconds(segment.first, segment.second, speeds[next]);
  }
  return busy.empty() ? 0.0 : *std::max_element(busy.begin(), busy.end());
}

double lower_bound(const Work& work, const std::vector<double>& speeds) {
  if (work.cost.empty() || speeds.empty()) return 0;
  const Chain chain(work);
  double cheapest = chain.start(0);
  double soonest = chain.start(0);  // the soonest time at which a segment from any earlier start gets here
  double largest = 0;
  for (std::size_t at = 0; at < chain.size(); ++at) {
    cheapest = std::min(cheapest, chain.start(at));
    soonest = std::min(soonest, chain.start(at)) + work.cost[at];
    largest = std::max(largest, soonest);
  }
  const double total = std::accumulate(work.cost.begin(), work.cost.end(), 0.0);
  const double speed = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  const double fastest = *std::max_element(speeds.begin(), speeds.end());
  return std::max(total / speed + cheapest / fastest, largest / fastest);
}

Work work_of(const core::Plan& plan) {
  Work work;
  double before = 0;
  const int64_t end = plan.selected.empty() ? 0 : plan.selected.ranges().back().second;
  for (const auto& unit : plan.units) {
    if (unit.id >= end) break;
    const bool selected = plan.selected.contains(unit.id);
    if (selected) {
      work.cost.push_back(unit.work);
      if (!plan.complete) work.start.push_back(before);
    }
    // Assume that skipping never costs more than executing. This makes the greedy cut optimal.
    before += selected ? std::min(unit.skip_cost, unit.work) : unit.skip_cost;
  }
  return work;
}

namespace {

// Returns the units at these positions of the selection, as ranges without gaps.
std::vector<core::UnitRange> ranges_at(const std::vector<int64_t>& ids, const Segment& positions) {
  core::UnitSet units;
  for (std::size_t at = positions.first; at < positions.second; ++at) units.add(ids[at]);
  return units.ranges();
}

}  // namespace

void cut(core::Plan& plan, std::size_t workers) {
  const Work work = work_of(plan);
  const std::vector<double> speeds(std::max<std::size_t>(workers, 1), 1.0);
  const auto segments = partition(work, speeds);
  const auto ids = plan.selected.ids();
  plan.segments.clear();
  for (const auto& segment : segments) {
    const auto ranges = ranges_at(ids, segment);
    plan.segments.insert(plan.segments.end(), ranges.begin(), ranges.end());
  }
  plan.workers = segments.size();
  plan.bound = lower_bound(work, speeds);
  plan.makespan = makespan(work, segments, speeds);
  plan.serial = seconds_of(work, {0, work.cost.size()});
}

}  // namespace flor::plan
