// What a large replay asks of Redis while it goes on: agents that renew, reap and commit, idle workers that
// claim, and the command that watches. Commands a second, of scripts as well, and the share of a core that
// Redis takes.
//
//   load --redis URL [--units 100000] [--agents 300] [--idle 500] [--seconds 20]
//
// Each agent has two connections, as flor-agent has, and one worker that commits a unit every --unit seconds;
// the idle workers ask through the agents. Prints one JSON object.
#include <CLI/CLI.hpp>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <memory>
#include <mutex>
#include <queue>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/files/durable.h"
#include "queue/queue.h"
#if __has_include("agent/idle_wait.h")
#include "agent/idle_wait.h"
#else
namespace flor::agent {  // of earlier versions, which this measures as well
struct IdleWait {
  double next(double, double) { return 0.5; }
};
}  // namespace flor::agent
#endif

namespace {

using flor::core::Json;
using flor::core::monotonic_seconds;
namespace core = flor::core;
namespace queue = flor::queue;

struct Options {
  std::string url;
  int64_t units = 100000, split = 2000;
  int agents = 300, idle = 500, threads = 8;
  double seconds = 20, unit = 10;
};

// `split` segments of one unit, which are done before anything is measured; what is left, for one worker an
// agent.
core::Plan plan_of(const Options& options) {
  core::Plan plan;
  plan.run = "20261120-143005-a3f9";
  plan.replay = "bench";
  plan.complete = true;
  plan.balance = false;  // so that who is idle stays idle
  for (int64_t id = 0; id < options.units; ++id)
    plan.units.push_back({id, id, id, "", 1, 0.1, 0.01, options.unit});
  plan.selected = {0, options.units};
  for (int64_t id = 0; id < options.split; ++id) plan.segments.emplace_back(id, id + 1);
  for (int64_t k = 0; k < options.agents; ++k) {
    const auto at = [&](int64_t n) {
      return options.split + (options.units - options.split) * n / options.agents;
    };
    plan.segments.emplace_back(at(k), at(k + 1));
  }
  return plan;
}

// What an earlier version's claim does not tell.
template <class Claim>
auto left_of(const Claim& claim, int) -> decltype(claim.left) {
  return claim.left;
}
template <class Claim>
double left_of(const Claim&, long) {
  return 0;
}
template <class Queue>
auto watch(Queue& mine, int) -> decltype(mine.news(), void()) {
  mine.news();
}
template <class Queue>
void watch(Queue& mine, long) {
  mine.status();
}

// Calls at times, by a few threads: a call that comes late delays those of its own queue alone.
class Clockwork {
 public:
  using Action = std::function<double()>;  // seconds until it is to be repeated
  void add(double after, std::mutex& turn, Action action) {
    due_.push({monotonic_seconds() + after, &turn, std::make_shared<Action>(std::move(action))});
  }
  void run(double seconds, int threads) {
    const double end = monotonic_seconds() + seconds;
    std::vector<std::thread> all;
    all.reserve(static_cast<std::size_t>(threads));
    for (int k = 0; k < threads; ++k) all.emplace_back([this, end] { work(end); });
    for (auto& thread : all) thread.join();
  }

 private:
  struct Due {
    double at = 0;
    std::mutex* turn = nullptr;
    std::shared_ptr<Action> action;
    bool operator<(const Due& other) const { return at > other.at; }
  };
  void work(double end) {
    for (;;) {
      std::unique_lock lock(mutex_);
      const double now = monotonic_seconds();
      if (now >= end) return;
      if (due_.empty() || due_.top().at > now) {
        lock.unlock();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      Due due = due_.top();
      due_.pop();
      lock.unlock();
      double pause = 0;
      {
        const std::lock_guard turn(*due.turn);
        pause = (*due.action)();
      }
      due.at = monotonic_seconds() + pause;
      lock.lock();
      due_.push(due);
    }
  }
  std::mutex mutex_;
  std::priority_queue<Due> due_;
};

struct Agent {
  std::unique_ptr<queue::Queue> calls, renewals;
  std::mutex calls_turn, renewals_turn;
  queue::Segment segment;
  int64_t next = 0;
};

double number_in(const std::string& info, const std::string& name) {
  const auto at = info.find(name + ":");
  return at == std::string::npos ? 0 : std::stod(info.substr(at + name.size() + 1));
}

struct Usage {
  double commands = 0, cpu = 0, bytes = 0;
};
Usage usage_of(queue::Redis& redis) {
  Usage out;
  std::istringstream lines(redis.command({"INFO", "commandstats"}).text);
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find(":calls=");
    if (at != std::string::npos) out.commands += std::stod(line.substr(at + 7));
  }
  const std::string cpu = redis.command({"INFO", "cpu"}).text;
  out.cpu = number_in(cpu, "used_cpu_user") + number_in(cpu, "used_cpu_sys");
  out.bytes = number_in(redis.command({"INFO", "stats"}).text, "total_net_output_bytes");
  return out;
}

class Load {
 public:
  Load(const Options& options, const core::ReplayDir& replay)
      : options_(options), watcher_(options.url, replay) {
    watcher_.ensure(core::read_plan(replay));
    small_.run = "20261120-143005-a3f9";
    small_.replay = "bench";
    small_.balance = false;
    finish_the_split();
    for (int k = 0; k < options.agents; ++k) add_agent(k, replay);
    for (int k = 0; k < options.idle; ++k) add_idle(k);
    clockwork_.add(1, watcher_turn_, [this] {
      watcher_.reap();
      watch(watcher_, 0);
      return 1.0;
    });
  }

  Json run() {
    queue::Redis redis(options_.url);
    const Usage before = usage_of(redis);
    const double begun = monotonic_seconds();
    clockwork_.run(options_.seconds, options_.threads);
    const double took = monotonic_seconds() - begun;
    const Usage after = usage_of(redis);
    return {{"agents", options_.agents},
            {"idle", options_.idle},
            {"seconds", took},
            {"commands_per_second", (after.commands - before.commands) / took},
            {"redis_cores", (after.cpu - before.cpu) / took},
            {"sent_bytes_per_second", (after.bytes - before.bytes) / took},
            {"idle_claims_per_second", static_cast<double>(claims_) / took},
            {"commits_per_second", static_cast<double>(commits_) / took}};
  }

 private:
  // Segments that were done long ago, as a replay has whose work was shared again and again.
  void finish_the_split() {
    for (int64_t k = 0; k < options_.split; ++k) {
      const auto segment = watcher_.claim("earlier", -1).segment;
      watcher_.commit({segment.id, segment.fence, segment.cur, "earlier", std::string(32, 'd'), 100, 1});
    }
  }

  static queue::WorkerInfo worker(const std::string& id) {
    queue::WorkerInfo out;
    out.id = id;
    out.node = "n1";
    out.pid = 4711;
    return out;
  }

  void add_agent(int number, const core::ReplayDir& replay) {
    agents_.push_back(std::make_unique<Agent>());
    Agent& agent = *agents_.back();
    agent.calls = std::make_unique<queue::Queue>(options_.url, replay);
    agent.renewals = std::make_unique<queue::Queue>(options_.url, replay);
    // Hundreds of agents have read the plan on hundreds of nodes, not in one process: here each holds a small
    // one.
    agent.calls->ensure(small_);
    agent.renewals->ensure(small_);
    const std::string id = "w" + std::to_string(number);
    agent.calls->join(worker(id));
    agent.segment = agent.calls->claim(id, -1).segment;
    agent.next = agent.segment.cur;
    clockwork_.add(3 * chance(), agent.renewals_turn, [&agent] {
      agent.renewals->renew(agent.segment.id, agent.segment.fence);
      agent.renewals->reap();
      return 3.0;
    });
    clockwork_.add(options_.unit * chance(), agent.calls_turn, [this, &agent, id] {
      agent.calls->commit({agent.segment.id, agent.segment.fence, agent.next++, id, std::string(32, 'd'), 100,
                           options_.unit});
      ++commits_;
      return options_.unit;
    });
  }

  void add_idle(int number) {
    Agent& agent = *agents_[static_cast<std::size_t>(number) % agents_.size()];
    const std::string id = "idle" + std::to_string(number);
    agent.calls->join(worker(id));
    auto wait = std::make_shared<flor::agent::IdleWait>();
    for (int k = 0; k < 8; ++k) wait->next(0, 0.5);  // it has been idle for a while
    clockwork_.add(chance(), agent.calls_turn, [this, &agent, id, wait] {
      const auto claim = agent.calls->claim(id, -1);
      ++claims_;
      return wait->next(left_of(claim, 0), chance());
    });
  }

  double chance() {
    const std::lock_guard lock(chance_turn_);
    return std::uniform_real_distribution<double>()(chance_);
  }

  const Options options_;
  core::Plan small_;
  queue::Queue watcher_;
  std::mutex watcher_turn_, chance_turn_;
  std::minstd_rand chance_;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::atomic<int64_t> claims_{0}, commits_{0};
  Clockwork clockwork_;
};

}  // namespace

int main(int argc, char** argv) try {
  Options options;
  CLI::App app{"Redis under a large replay"};
  app.add_option("--redis", options.url)->required();
  app.add_option("--units", options.units);
  app.add_option("--split", options.split, "segments that are done already");
  app.add_option("--agents", options.agents);
  app.add_option("--idle", options.idle);
  app.add_option("--seconds", options.seconds);
  app.add_option("--unit", options.unit, "seconds that a unit takes");
  CLI11_PARSE(app, argc, argv);

  std::string name = (std::filesystem::temp_directory_path() / "flor-bench-XXXXXX").string();
  const std::filesystem::path store = ::mkdtemp(name.data());
  const core::Plan plan = plan_of(options);
  const core::ReplayDir replay = core::RunDir{store / plan.run}.replay(plan.replay);
  core::create_directories_durably(replay.units());
  core::write_durably(replay.plan(), core::json_text(core::to_json(plan)));
  std::cout << Load(options, replay).run().dump() << "\n";
  queue::Queue(options.url, replay).remove();
  std::filesystem::remove_all(store);
  return 0;
} catch (const std::exception& problem) {
  std::cerr << "load: " << problem.what() << "\n";
  return 1;
}
