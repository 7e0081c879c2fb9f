// A queue is built in short steps, between which Redis serves others: what if one is missing, or another
// builds, too.
#include <fstream>

#include "queue/planted.h"

namespace flor::test {
namespace {

using queue::ClaimKind;
namespace scripts = queue::scripts;

class BuildingTest : public PlantedTest {};

TEST_F(BuildingTest, AQueueThatIsHalfBuiltIsNotUsedAndBuiltAnew) {
  run({scripts::build_begin, {builder, "3", "12", "2"}});
  run({scripts::add_segments, {builder, "0", "2", "0"}});
  run({scripts::add_done, {builder, "5", "{}"}});
  EXPECT_FALSE(adas_queue().status().present);
  EXPECT_EQ(run({scripts::claim, {"w1", "-1", "", "0", "", ""}}).at(0).text, "absent");
  const auto claim = adas_queue().claim("w1", -1);
  EXPECT_EQ(claim.segment.hi, 6);
  EXPECT_EQ(claim.segment.fence, "4.1") << "no token of the first builder's comes again";
  EXPECT_EQ(adas_queue().status().done, 0) << "no unit has a file";
}

TEST_F(BuildingTest, WhoIsOvertakenByAnotherBuilderAddsNothing) {
  run({scripts::build_begin, {"first", "3", "12", "2"}});
  run({scripts::build_begin, {"second", "4", "12", "2"}});
  for (const Call& call :
       {Call{scripts::add_segments, {"first", "0", "2", "0"}}, Call{scripts::add_done, {"first", "5", "{}"}},
        Call{scripts::adopt, {"first", "0"}}, Call{scripts::build_end, {"first", "12"}}})
    EXPECT_EQ(run(call).at(0).text, "lost") << call.script.name;
  EXPECT_EQ(run({scripts::build_end, {"second", "12"}}).at(0).text, "ok");
  EXPECT_EQ(admin.command({"HGET", prefix + "meta", "next"}).num(), 0);
  EXPECT_EQ(admin.command({"EXISTS", prefix + "done"}).num(), 0);
}

TEST_F(BuildingTest, WhatIsHalfBroughtUpToDateIsBroughtUpToDateAgain) {
  fill();
  admin.command({"HSET", prefix + "meta", "server", "of before"});
  replay.publish(1);
  run({scripts::adopt_begin, {builder, "3"}});
  EXPECT_EQ(run({scripts::renew, {held.id, held.fence}}).at(0).text, "absent");
  auto queue = adas_queue();
  EXPECT_FALSE(queue.renew(held.id, held.fence).lost) << "leases go on";
  EXPECT_EQ(info(queue, held.id).cur, 2);
}

class BuildingManyTest : public QueueTest {
 protected:
  static constexpr int64_t many = 3000;
  static std::vector<core::UnitRange> one_each() {
    std::vector<core::UnitRange> out;
    for (int64_t unit = 0; unit < many; ++unit) out.emplace_back(unit, unit + 1);
    return out;
  }
  BuildingManyTest() : QueueTest(many, one_each()) {}
  // Files alone: thousands of fsync take long.
  void publish(int64_t first, int64_t end) const {
    for (int64_t unit = first; unit < end; ++unit) std::ofstream(replay.dir().unit(unit)) << "{}\n";
  }
};

TEST_F(BuildingManyTest, AllUnitsAndSegmentsComeThrough) {
  publish(1000, many);
  auto queue = open();
  queue.ensure(replay.plan);
  auto status = queue.status();
  EXPECT_EQ(status.done, 2000);
  EXPECT_EQ(status.segments.size(), 1000U);
  EXPECT_EQ(queue.claim("w1", 999).segment.cur, 999);

  queue::Redis redis(server.url());
  publish(0, 998);
  redis.command({"HSET", replay.key("meta"), "server", "of before"});
  queue.ensure(replay.plan);
  status = queue.status();
  EXPECT_EQ(status.done, 2998);
  EXPECT_EQ(status.segments.size(), 1000U);
  EXPECT_EQ(queue.claim("w2", -1).segment.cur, 998) << "the only one that is ready";
}

TEST_F(BuildingManyTest, ACommitBehindManyUnitsThatAreDone) {
  replay.plan.segments = {{0, many}};
  auto queue = open();
  queue.ensure(replay.plan);
  const auto segment = queue.claim("w1", -1).segment;
  queue::Redis redis(server.url());
  redis.command({"EVAL", "for i = 0, ARGV[1] do redis.call('HSET', KEYS[1], i, '{}') end", "1",
                 replay.key("done"), std::to_string(many - 2)});
  const auto standing = commit(queue, segment, many - 1, "w1");
  EXPECT_FALSE(standing.lost);
  EXPECT_EQ(queue.status().done, many);
  EXPECT_EQ(info(queue, segment.id).state, "done");
}

}  // namespace
}  // namespace flor::test
