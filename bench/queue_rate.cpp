// The work queue at its limit: how many units a second many clients commit, what a plan of 100,000 units
// takes to make, write, read and queue, and how much memory Redis needs for it.
//
//   queue_rate --redis URL [--units 100000] [--clients 32]
//
// Each client is a thread with a connection of its own, as an agent is. Prints one JSON object.
#include <CLI/CLI.hpp>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/files/durable.h"
#include "plan/partition.h"
#include "queue/queue.h"

namespace {

using flor::core::Json;
using flor::core::monotonic_seconds;
namespace core = flor::core;
namespace queue = flor::queue;

core::Plan plan_of(int64_t units) {
  core::Plan plan;
  plan.run = "20261120-143005-a3f9";
  plan.replay = "bench";
  plan.complete = true;
  for (int64_t id = 0; id < units; ++id) {
    const std::string entry = "checkpoints/@iteration/epoch=" + std::to_string(id) + ".safetensors";
    plan.units.push_back({id, id, id, entry, 1, 0.1, 0.01, 1 + static_cast<double>(id % 7) / 10});
  }
  plan.selected = {0, units};
  return plan;
}

// Claims and commits until nothing is left. How many it committed.
int64_t work(queue::Queue& mine, int number) {
  const std::string worker = "w" + std::to_string(number);
  int64_t committed = 0;
  for (auto claim = mine.claim(worker, -1); claim.kind == queue::ClaimKind::segment;
       claim = mine.claim(worker, -1)) {
    const auto& segment = claim.segment;
    queue::Standing standing{false, false, segment.hi};
    for (int64_t unit = segment.cur; unit < standing.hi && !standing.lost; ++unit) {
      standing = mine.commit({segment.id, segment.fence, unit, worker, std::string(32, 'd'), 100, 1});
      committed += standing.lost ? 0 : 1;
    }
  }
  return committed;
}

template <class Call>
double seconds_of(Call call) {
  const double begun = monotonic_seconds();
  call();
  return monotonic_seconds() - begun;
}

int64_t memory_of(queue::Redis& redis) {
  const std::string info = redis.command({"INFO", "memory"}).text;
  return std::stoll(info.substr(info.find("used_memory:") + 12));
}

}  // namespace

int main(int argc, char** argv) try {
  std::string url;
  int64_t units = 100000;
  int clients = 32;
  CLI::App app{"The work queue at its limit"};
  app.add_option("--redis", url)->required();
  app.add_option("--units", units);
  app.add_option("--clients", clients);
  CLI11_PARSE(app, argc, argv);

  std::string name = (std::filesystem::temp_directory_path() / "flor-bench-XXXXXX").string();
  const std::filesystem::path store = ::mkdtemp(name.data());
  core::Plan plan = plan_of(units);
  const core::RunDir run{store / plan.run};
  const core::ReplayDir replay = run.replay(plan.replay);
  core::create_directories_durably(replay.units());
  Json out{{"units", units}, {"clients", clients}};
  out["cut"] = seconds_of([&] { flor::plan::cut(plan, static_cast<std::size_t>(clients)); });
  out["write"] =
      seconds_of([&] { core::write_durably(replay.plan(), core::json_text(core::to_json(plan))); });
  out["read"] = seconds_of([&] { plan = core::read_plan(replay); });
  queue::Queue owner(url, replay);
  queue::Redis redis(url);
  const int64_t before = memory_of(redis);
  out["build"] = seconds_of([&] { owner.ensure(plan); });
  std::vector<std::unique_ptr<queue::Queue>> queues;  // each has read the plan, as an agent has that begins
  for (int k = 0; k < clients; ++k) {
    queues.push_back(std::make_unique<queue::Queue>(url, replay));
    queues.back()->ensure(plan);
  }
  int64_t committed = 0;
  const double took = seconds_of([&] {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(clients));
    std::vector<int64_t> counts(static_cast<std::size_t>(clients));
    for (int k = 0; k < clients; ++k) {
      threads.emplace_back([&, k] {
        const auto at = static_cast<std::size_t>(k);
        counts[at] = work(*queues[at], k);
      });
    }
    for (auto& thread : threads) thread.join();
    for (const int64_t count : counts) committed += count;
  });
  out["commits"] = committed;
  out["commits_per_second"] = static_cast<double>(committed) / took;
  out["redis_bytes"] = memory_of(redis) - before;
  out["status"] = seconds_of([&] { owner.status(); });
  out["done"] = owner.status().done;
  owner.remove();
  std::filesystem::remove_all(store);
  std::cout << out.dump() << "\n";
  return 0;
} catch (const std::exception& problem) {
  std::cerr << "queue_rate: " << problem.what() << "\n";
  return 1;
}
