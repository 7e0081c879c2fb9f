// A replay in simulated time, with the planner's own code: its cut (plan/partition.h) and its sharing
// (queue/share.h). For more workers and units than one machine carries, and for failures.
//
//   simulation --costs FILE|--units N [--workers N] [--speeds equal|unequal|straggler] …
//
// Prints one JSON object: the time until the last unit is committed, the lower bound, their ratio, and how
// long the cut took.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <numeric>
#include <queue>
#include <random>
#include <set>
#include <vector>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "plan/partition.h"
#include "queue/share.h"

namespace {

using flor::core::Json;
using flor::core::Plan;
namespace plan = flor::plan;
namespace queue = flor::queue;

struct Asked {
  std::string costs, speeds = "equal";
  int64_t units = 200;
  std::size_t workers = 16;
  double seconds = 0.2, variation = 0.1;  // of a unit
  double overhead = 0;                    // seconds of each unit beside its cost: commit, restore
  double poll = 0.5;                      // seconds after which an idle worker asks again
  double failures = 0;                    // per worker and hour
  double detect = 10, restart = 5;        // seconds until a lost worker's segment is free, and it is back
  unsigned seed = 1;
};

double speed_of(const std::string& kind, std::size_t worker) {
  if (kind == "unequal") return worker % 2 == 1 ? 0.55 : 1;
  if (kind == "straggler") return worker == 0 ? 0.4 : 1;
  return 1;
}

Plan plan_of(const Asked& asked) {
  std::vector<double> costs;
  if (!asked.costs.empty()) {
    std::ifstream in(asked.costs);
    costs = Json::parse(in).get<std::vector<double>>();
  } else {
    std::mt19937 random(asked.seed);
    std::uniform_real_distribution<double> factor(1 - asked.variation, 1 + asked.variation);
    for (int64_t i = 0; i < asked.units; ++i) costs.push_back(asked.seconds * factor(random));
  }
  Plan out;
  out.complete = true;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const auto id = static_cast<int64_t>(i);
    out.units.push_back({id, id, id, "x", costs[i], 0, 0, costs[i]});
  }
  out.selected = {0, static_cast<int64_t>(costs.size())};
  return out;
}

struct Segment {
  int64_t cur = 0, hi = 0;
  int worker = -1;  // -1: ready, or done
  double since = 0;
  int64_t other = -1;  // where its unit is executed as well
  bool is_copy = false;
};

struct Worker {
  double speed = 1;
  double work = 0, busy = 0;  // as commit.lua measures a speed
  int64_t segment = -1;
  int64_t life = 0;  // events of an earlier one do not count
  double measured() const { return busy > 0 ? work / busy : 0; }
};

enum class What { unit_ends, asks, is_lost, is_free };

struct Event {
  double at = 0;
  int worker = 0;
  What what = What::asks;
  int64_t life = 0, segment = -1;
  bool operator>(const Event& other) const { return at > other.at; }
};

class Simulation {
 public:
  Simulation(const Asked& asked, const Plan& plan)
      : asked_(asked), plan_(plan), times_(plan), random_(asked.seed) {
    for (const auto& [first, end] : plan.segments) segments_.push_back({first, end});
    ready_.resize(segments_.size());
    std::iota(ready_.begin(), ready_.end(), 0);
    left_ = plan.selected.size();
    done_.resize(plan.units.size());
    copies_left_ = std::max<std::size_t>(2, plan.selected.size() / 10);
    for (std::size_t k = 0; k < asked.workers; ++k) {
      workers_.push_back({speed_of(asked.speeds, k)});
      join(static_cast<int>(k), 0);
    }
  }

  double run() {
    while (left_ > 0) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      if (event.what == What::is_free) {
        hand_back(event.segment);
      } else if (event.life == workers_[static_cast<std::size_t>(event.worker)].life) {
        happen(event);
      }
    }
    return now_;
  }

 private:
  Worker& worker(int k) { return workers_[static_cast<std::size_t>(k)]; }
  Segment& segment(int64_t id) { return segments_[static_cast<std::size_t>(id)]; }

  void happen(const Event& event) {
    if (event.what == What::unit_ends) unit_ends(event.worker);
    if (event.what == What::asks) ask(event.worker);
    if (event.what == What::is_lost) lose(event.worker);
  }

  void join(int k, double at) {
    const int64_t life = ++worker(k).life;
    events_.push({at, k, What::asks, life});
    if (asked_.failures <= 0) return;
    std::exponential_distribution<double> until(asked_.failures / 3600);
    events_.push({at + until(random_), k, What::is_lost, life});
  }

  void lose(int k) {
    const int64_t held = worker(k).segment;
    const double speed = worker(k).speed;
    const int64_t life = worker(k).life;
    worker(k) = {speed};
    worker(k).life = life;
    if (held >= 0) events_.push({now_ + asked_.detect, k, What::is_free, 0, held});
    join(k, now_ + asked_.restart);
  }

  void hand_back(int64_t id) {
    Segment& one = segment(id);
    one.worker = -1;
    if (one.is_copy) {
      if (one.other >= 0) segment(one.other).other = -1;
    } else if (one.cur < one.hi) {
      ready_.push_back(id);
    }
  }

  void ask(int k) {
    if (!ready_.empty()) {
      const int64_t id = ready_.front();
      ready_.erase(ready_.begin());
      if (segment(id).cur < segment(id).hi) return take(k, id);
      return ask(k);
    }
    std::vector<queue::Running> running;
    std::vector<int64_t> ids;
    for (int64_t id = 0; id < static_cast<int64_t>(segments_.size()); ++id) {
      const Segment& one = segment(id);
      if (one.worker < 0 || one.cur >= one.hi) continue;
      ids.push_back(id);
      running.push_back(
          {one.cur, one.hi, now_ - one.since, worker(one.worker).measured(), one.cur, one.other >= 0});
    }
    const auto share = queue::share(times_, running, {-1, worker(k).measured()});
    if (!share || (share->copy && copies_left_ == 0)) {
      events_.push({now_ + asked_.poll, k, What::asks, worker(k).life});
      return;
    }
    const int64_t victim = ids[share->of];
    const auto id = static_cast<int64_t>(segments_.size());
    segments_.push_back({share->at, share->copy ? share->at + 1 : segment(victim).hi});
    if (share->copy) {
      copies_left_ -= 1;
      segment(id).is_copy = true;
      segment(id).other = victim;
      segment(victim).other = id;
    } else {
      segment(victim).hi = share->at;
    }
    take(k, id);
  }

  void take(int k, int64_t id) {
    worker(k).segment = id;
    segment(id).worker = k;
    begin_unit(k);
  }

  double seconds_of(int k, int64_t unit) {
    return plan_.units[static_cast<std::size_t>(unit)].work / worker(k).speed + asked_.overhead;
  }

  void begin_unit(int k) {
    Segment& held = segment(worker(k).segment);
    held.since = now_;
    events_.push({now_ + seconds_of(k, held.cur), k, What::unit_ends, worker(k).life});
  }

  void unit_ends(int k) {
    Worker& one = worker(k);
    Segment& held = segment(one.segment);
    const int64_t unit = held.cur;
    one.work = one.work / 2 + plan_.units[static_cast<std::size_t>(unit)].work;
    one.busy = one.busy / 2 + seconds_of(k, unit);
    if (!done_[static_cast<std::size_t>(unit)]) left_ -= 1;
    done_[static_cast<std::size_t>(unit)] = true;
    while (held.cur < held.hi && done_[static_cast<std::size_t>(held.cur)]) held.cur += 1;
    if (held.other >= 0 && segment(held.other).cur == unit) segment(held.other).cur = unit + 1;
    if (held.cur < held.hi) return begin_unit(k);
    held.worker = -1;
    one.segment = -1;
    ask(k);
  }

  const Asked& asked_;
  const Plan& plan_;
  queue::Times times_;
  std::mt19937_64 random_;
  std::vector<Segment> segments_;
  std::vector<int64_t> ready_;
  std::vector<Worker> workers_;
  std::vector<bool> done_;
  std::size_t left_ = 0, copies_left_ = 0;
  double now_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace

int main(int argc, char** argv) {
  Asked asked;
  CLI::App app{"A replay in simulated time"};
  app.add_option("--costs", asked.costs, "a JSON array, seconds of each unit");
  app.add_option("--units", asked.units);
  app.add_option("--workers", asked.workers);
  app.add_option("--speeds", asked.speeds)->check(CLI::IsMember({"equal", "unequal", "straggler"}));
  app.add_option("--seconds", asked.seconds);
  app.add_option("--variation", asked.variation);
  app.add_option("--overhead", asked.overhead);
  app.add_option("--poll", asked.poll);
  app.add_option("--failures", asked.failures);
  app.add_option("--detect", asked.detect);
  app.add_option("--restart", asked.restart);
  app.add_option("--seed", asked.seed);
  CLI11_PARSE(app, argc, argv);
  Plan plan = plan_of(asked);
  const double begun = flor::core::monotonic_seconds();
  plan::cut(plan, asked.workers);
  const double planning = flor::core::monotonic_seconds() - begun;
  std::vector<double> speeds;
  for (std::size_t k = 0; k < asked.workers; ++k) speeds.push_back(speed_of(asked.speeds, k));
  const double bound = plan::lower_bound(plan::work_of(plan), speeds);
  const double took = Simulation(asked, plan).run();
  std::cout << Json{{"seconds", took}, {"bound", bound}, {"ratio", took / bound}, {"planning", planning}}
            << "\n";
  return 0;
}
