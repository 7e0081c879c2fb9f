// A store with one run and one replay, whose units are published as workers do it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/files/durable.h"
#include "core/store/plan.h"
#include "core/store/store.h"
#include "queue/queue.h"
#include "queue/redis_server.h"

namespace flor::test {

inline const std::string unit_digest = "0123456789abcdef0123456789abcdef";

class TestReplay {
 public:
  explicit TestReplay(int64_t units, std::vector<core::UnitRange> segments) {
    plan.run = "20261120-143005-a3f9";
    plan.replay = "r20261121-080000-0001";
    plan.complete = true;
    for (int64_t id = 0; id < units; ++id) {
      core::Unit unit;
      unit.id = unit.first = unit.last = id;
      unit.cost = unit.work = 1;
      plan.units.push_back(unit);
    }
    plan.selected = {0, units};
    plan.segments = std::move(segments);
    core::create_directories_durably(dir().units());
    core::write_durably(dir().plan(), core::json_text(core::to_json(plan)));
  }

  core::RunDir run() const { return {store_.path() / plan.run}; }
  core::ReplayDir dir() const { return run().replay(plan.replay); }
  void publish(int64_t unit) const { core::publish_once(dir().unit(unit), "{}\n"); }
  std::string key(const std::string& name) const {
    return "flor:{" + plan.run + "/" + plan.replay + "}:" + name;
  }

  core::Plan plan;

 private:
  TempDir store_;
};

// A queue with a server and a replay of its own.
class QueueTest : public ::testing::Test {
 protected:
  QueueTest() : QueueTest(12, {{0, 6}, {6, 9}, {9, 12}}) {}
  QueueTest(int64_t units, std::vector<core::UnitRange> segments) : replay(units, std::move(segments)) {}

  queue::Queue open(int lease_ms = 10000) {
    queue::QueueOptions options;
    options.lease = std::chrono::milliseconds(lease_ms);
    return queue::Queue(server.url(), replay.dir(), options);
  }

  queue::Standing commit(queue::Queue& queue, const queue::Segment& segment, int64_t unit,
                         const std::string& worker, double seconds = 0.5) {
    replay.publish(unit);
    return queue.commit({segment.id, segment.fence, unit, worker, unit_digest, 3, seconds});
  }

  queue::SegmentInfo info(queue::Queue& queue, const std::string& id) {
    for (const auto& segment : queue.status().segments) {
      if (segment.id == id) return segment;
    }
    return {};
  }

  // The kinds of all events so far, in order.
  std::vector<std::string> events() {
    std::vector<std::string> out;
    queue::Redis redis(server.url());
    for (const auto& event : redis.command({"XRANGE", replay.key("events"), "-", "+"}).items) {
      out.push_back(event.at(1).at(1).text);
    }
    return out;
  }

  RedisServer server;
  TestReplay replay;
};

}  // namespace flor::test
