// The file system's side of watching a large replay: what Monitor asks of it while units are committed.
//
//   watching STORE --redis URL [--units 100000] [--seconds 10]
//
// The first call makes the store, with half of the units done; count the system calls of the second:
// strace -f -c -e trace=getdents64,openat,newfstatat watching STORE …
#include <CLI/CLI.hpp>

#include <csignal>
#include <fstream>
#include <iostream>
#include <thread>

#include "commands/replay/monitor.h"
#include "core/base/json.h"
#include "core/files/durable.h"

namespace {

namespace core = flor::core;
namespace queue = flor::queue;

class Played : public flor::dispatch::Launcher {
 public:
  std::string name() const override { return "played"; }
  std::size_t free_places() override { return 1; }
  void start(std::size_t /*workers*/) override {}
  flor::dispatch::Liveness liveness() override { return {1, 0}; }
  std::string describe() const override { return "played"; }
  std::string failure_tail() override { return ""; }
  void cancel() override {}
};

void make(const core::ReplayDir& replay, int64_t units) {
  core::Plan plan;
  plan.run = "20261120-143005-a3f9";
  plan.replay = "bench";
  plan.complete = true;
  for (int64_t id = 0; id < units; ++id) plan.units.push_back({id, id, id, "", 1, 0.1, 0.01, 1});
  plan.selected = {0, units};
  plan.segments = {{0, units}};
  core::create_directories_durably(replay.units());
  for (int64_t id = 0; id < units / 2; ++id) std::ofstream(replay.unit(id)) << "{}\n";
  core::write_durably(replay.plan(), core::json_text(core::to_json(plan)));
}

// Thirty units a second.
void work(const std::string& url, const core::ReplayDir& replay, double seconds) {
  queue::Queue mine(url, replay);
  const auto segment = mine.claim("w", -1).segment;
  const auto units = static_cast<int64_t>(seconds * 30);
  for (int64_t unit = segment.cur; unit < segment.cur + units; ++unit) {
    std::ofstream(replay.unit(unit)) << "{}\n";
    mine.commit({segment.id, segment.fence, unit, "w", std::string(32, 'd'), 3, 1});
    std::this_thread::sleep_for(std::chrono::microseconds(33333));
  }
  ::raise(SIGINT);
}

}  // namespace

int main(int argc, char** argv) try {
  std::string store, url;
  int64_t units = 100000;
  double seconds = 10;
  CLI::App app{"Watching a large replay"};
  app.add_option("store", store)->required();
  app.add_option("--redis", url)->required();
  app.add_option("--units", units);
  app.add_option("--seconds", seconds);
  CLI11_PARSE(app, argc, argv);
  const core::ReplayDir replay =
      core::RunDir{std::filesystem::path(store) / "20261120-143005-a3f9"}.replay("bench");
  if (!core::fs::exists(replay.plan())) {
    make(replay, units);
    return 0;
  }
  const core::Plan plan = core::read_plan(replay);
  queue::Queue mine(url, replay);
  mine.ensure(plan);
  Played launcher;
  flor::commands::Display display(flor::commands::Show::nothing);
  const flor::commands::Interrupt interrupt;
  flor::commands::Monitor monitor(replay, plan, launcher, mine, display, interrupt);
  std::thread worker([&] { work(url, replay, seconds); });
  const auto watched = monitor.watch(1);
  worker.join();
  mine.remove();
  std::cout << "watched for " << watched.seconds << " seconds\n";
  return 0;
} catch (const std::exception& problem) {
  std::cerr << "watching: " << problem.what() << "\n";
  return 1;
}
