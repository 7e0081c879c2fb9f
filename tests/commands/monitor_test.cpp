// What watching a replay costs its file system and its queue: entries and commands are counted, no time.
#include "commands/replay/monitor.h"

#include <dirent.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "queue/replay_dir.h"

namespace {
std::atomic<int64_t> entries_read{0};
}

// In front of the C library's, for the whole program.
extern "C" __attribute__((visibility("default"))) dirent* readdir(DIR* directory) {
  using Function = dirent* (*)(DIR*);
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "readdir"));
  ++entries_read;
  return real(directory);
}

namespace flor::test {
namespace {

constexpr int64_t many = 40;

// Workers that somebody else plays.
class Played : public dispatch::Launcher {
 public:
  std::atomic<std::size_t> running{1}, ending{0};
  std::atomic<int> starts{0};
  std::string name() const override { return "played"; }
  std::size_t free_places() override { return 1; }
  void start(std::size_t /*workers*/) override { ++starts; }
  dispatch::Liveness liveness() override { return {running, 0, ending}; }
  std::string describe() const override { return "played"; }
  std::string failure_tail() override { return ""; }
  void cancel() override {}
};

class MonitorTest : public QueueTest {
 protected:
  MonitorTest() : QueueTest(many, {{0, many}}) {}

  // Commits the units in order, each when the monitor has had time for a look.
  void work(queue::Queue& queue, std::chrono::milliseconds each) {
    const auto segment = queue.claim("w1", -1).segment;
    for (int64_t unit = segment.cur; unit < segment.hi; ++unit) {
      commit(queue, segment, unit, "w1");
      std::this_thread::sleep_for(each);
    }
  }

  commands::Watched watch() {
    auto queue = open();
    queue.ensure(replay.plan);
    commands::Display display(commands::Show::nothing);
    const commands::Interrupt interrupt;
    commands::Monitor monitor(replay.dir(), replay.plan, launcher, queue, display, interrupt);
    entries_read = 0;
    auto out = monitor.watch(1);
    rows = monitor.worker_rows();
    return out;
  }

  Played launcher;
  std::vector<core::Json> rows;
};

// A worker that Slurm preempts is COMPLETING before it is PENDING again.
TEST_F(MonitorTest, WorkersThatMayComeBackAreWaitedFor) {
  launcher.running = 0;
  launcher.ending = 1;
  std::thread worker([&] {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    launcher.running = 1;
    launcher.ending = 0;
    auto queue = open();
    work(queue, std::chrono::milliseconds(5));
  });
  const auto watched = watch();
  EXPECT_EQ(watched.end, commands::End::done) << watched.why;
  EXPECT_EQ(launcher.starts, 0);
  worker.join();
}

TEST_F(MonitorTest, WhatTheQueueTellsIsNotAskedOfTheStore) {
  std::thread worker([&] {
    auto queue = open();
    work(queue, std::chrono::milliseconds(50));
  });
  EXPECT_EQ(watch().end, commands::End::done);
  worker.join();
  EXPECT_GE(entries_read, many) << "they are counted";
  EXPECT_LE(entries_read, 4 * (many + 10)) << "a listing at the begin, one that proves the end, few between";
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_GE(rows[0].at("units").size(), static_cast<std::size_t>(many - 1))
      << "the last may be committed later";
}

TEST_F(MonitorTest, WithoutRedisTheStoreTells) {
  std::thread worker([&] {
    {
      auto queue = open();
      const auto segment = queue.claim("w1", -1).segment;
      for (int64_t unit = 0; unit < 10; ++unit) commit(queue, segment, unit, "w1");
    }
    server.kill();
    for (int64_t unit = 10; unit < many; ++unit) replay.publish(unit);
  });
  EXPECT_EQ(watch().end, commands::End::done);
  worker.join();
}

TEST_F(MonitorTest, AFailedSegmentIsHeardOf) {
  std::thread worker([&] {
    auto queue = open();
    const auto segment = queue.claim("w1", -1).segment;
    queue::Redis redis(server.url());
    eventually([&] {  // the monitor has read the queue's state, and follows its news
      const std::string stats = redis.command({"INFO", "commandstats"}).text;
      const auto at = stats.find("cmdstat_xrange:calls=");
      return at != std::string::npos && std::stoi(stats.substr(at + 21)) > 1;
    });
    queue.release(segment.id, segment.fence, "no such file", true);
  });
  const auto watched = watch();
  worker.join();
  EXPECT_EQ(watched.end, commands::End::failed);
  EXPECT_NE(watched.why.find("no such file"), std::string::npos) << watched.why;
}

TEST_F(MonitorTest, AUnitThatTheStoreDoesNotShowIsNotDone) {
  std::thread worker([&] {
    auto queue = open();
    const auto segment = queue.claim("w1", -1).segment;
    for (int64_t unit = 0; unit < many; ++unit) {
      if (unit != 7) replay.publish(unit);
      queue.commit({segment.id, segment.fence, unit, "w1", unit_digest, 3, 0.5});
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    replay.publish(7);
  });
  EXPECT_EQ(watch().end, commands::End::done);
  worker.join();
  EXPECT_TRUE(core::fs::exists(replay.dir().unit(7)));
}

}  // namespace
}  // namespace flor::test
