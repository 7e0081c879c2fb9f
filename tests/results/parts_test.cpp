// Units that are parts of an iteration: their rows are matched with the record's, and placed among them.
#include <gtest/gtest.h>

#include "program.h"
#include "results/rows/merge.h"
#include "results/verdict/verdict.h"

namespace flor::results {
namespace {

using testing::executed;
using testing::line;
using testing::places;

constexpr int64_t epochs = 2, steps = 4, cut = 2;

std::string at(int64_t epoch) {
  return "epoch=" + std::to_string(epoch);
}

// The program: for epoch { log(n) twice; block train { for step { log(loss) } log(total) } log(n) }.
std::string head(int64_t epoch, const std::string& probe = "") {
  return line(at(epoch), "n", "1") + probe + line(at(epoch), "n", "2");
}
std::string step(int64_t epoch, int64_t number, const std::string& loss = "0.5") {
  return line(at(epoch) + "/train#0/step=" + std::to_string(number), "loss", loss);
}
std::string tail(int64_t epoch, const std::string& last = "3") {
  return line(at(epoch) + "/train#0", "total", "2.0") + line(at(epoch), "n", last);
}
std::string block(int64_t epoch) {
  return executed(at(epoch) + "/train#0");
}
// What a unit says that begins behind them.
std::string before(int64_t epoch) {
  return R"({"@event":"before","at":")" + at(epoch) + "\",\"name\":\"n\",\"count\":2}\n";
}

class Parts : public ::testing::Test {
 protected:
  Parts() {
    manifest.loops.front().inner = plan.inner = "train#0/step";
    plan.units.clear();
    for (int64_t epoch = 0; epoch < epochs; ++epoch) {
      for (const bool behind : {false, true}) {
        core::Unit unit;
        unit.id = static_cast<int64_t>(plan.units.size());
        unit.first = unit.last = epoch;
        (behind ? unit.from : unit.to) = cut;
        plan.units.push_back(unit);
      }
      log += head(epoch) + step(epoch, 0) + step(epoch, 1) + step(epoch, 2) + step(epoch, 3) + tail(epoch);
      bodies.push_back(head(epoch) + block(epoch) + step(epoch, 0) + step(epoch, 1));
      bodies.push_back(before(epoch) + step(epoch, 2) + step(epoch, 3) + tail(epoch));
    }
    bodies.back() += testing::loop_end(epochs - 1, epochs - 1);
    plan.selected = {0, static_cast<int64_t>(plan.units.size())};
  }

  std::vector<UnitLog> logs() const {
    std::vector<UnitLog> out;
    for (const int64_t id : plan.selected.ids()) {
      const auto& unit = plan.units[static_cast<std::size_t>(id)];
      std::string opening = R"({"@unit":)" + std::to_string(id) + ",\"first\":" + std::to_string(unit.first) +
                            ",\"last\":" + std::to_string(unit.last);
      if (unit.from >= 0) opening += ",\"from\":" + std::to_string(unit.from);
      if (unit.to >= 0) opening += ",\"to\":" + std::to_string(unit.to);
      out.push_back(parse_unit(
          opening + "}\n" + bodies[static_cast<std::size_t>(id)] + "{\"@end\":" + std::to_string(id) + "}\n",
          unit, "unit"));
    }
    return out;
  }
  Verdict judged() { return judge(manifest, plan, Record(testing::record(log), manifest), logs(), {}); }
  std::vector<std::string> joined_places() {
    ReplayRows answer;
    answer.last_unit = plan.units.back().id;
    for (auto& unit : logs()) answer.units[unit.id] = std::move(unit);
    return places(joined(manifest, testing::record(log), {answer}));
  }

  core::Manifest manifest = testing::manifest(epochs);
  core::Plan plan = testing::plan(epochs);
  std::string log;
  std::vector<std::string> bodies;
};

TEST_F(Parts, AreIdenticalTogether) {
  const Verdict verdict = judged();
  EXPECT_EQ(verdict.judgement, Judgement::identical);
  EXPECT_EQ(verdict.values, epochs * (steps + 4));
  EXPECT_EQ(verdict.units[0].values, 4);
  EXPECT_EQ(verdict.units[1].values, 4);
}

TEST_F(Parts, AreIdenticalAlone) {
  for (const int64_t id : {0, 1, 2, 3}) {
    plan.selected = {id, id + 1};
    EXPECT_EQ(judged().judgement, Judgement::identical) << id;
  }
}

TEST_F(Parts, ARowBehindTheStepsIsMatchedWithItsOwn) {
  bodies[1] = before(0) + step(0, 2) + step(0, 3) + tail(0, "4");
  const Verdict verdict = judged();
  ASSERT_EQ(verdict.differences.size(), 1U);
  EXPECT_TRUE(verdict.units[0].is_equal());
  EXPECT_FALSE(verdict.units[1].is_equal());
  EXPECT_EQ(verdict.differences.front().recorded, 3);
  EXPECT_EQ(verdict.differences.front().replayed, 4);
}

TEST_F(Parts, AMissingRowIsTheirsWhoShouldHaveIt) {
  const auto missing = [&](std::size_t unit, const std::string& body) {
    const std::string whole = std::exchange(bodies[unit], body);
    for (std::size_t id = 0; id < bodies.size(); ++id) {
      plan.selected = {static_cast<int64_t>(id), static_cast<int64_t>(id) + 1};
      EXPECT_EQ(judged().differences.size(), id == unit ? 1U : 0U) << id;
    }
    bodies[unit] = whole;
  };
  missing(0, line(at(0), "n", "1") + block(0) + step(0, 0) + step(0, 1));
  missing(0, head(0) + block(0) + step(0, 1));
  missing(0, head(0) + block(0) + step(0, 0));
  missing(1, before(0) + step(0, 3) + tail(0));
  missing(1, before(0) + step(0, 2) + step(0, 3) + line(at(0), "n", "3"));
}

TEST_F(Parts, ARowOfAnotherPartIsADifference) {
  bodies[0] += step(0, 2);
  EXPECT_EQ(judged().judgement, Judgement::differs);
}

TEST_F(Parts, NewRowsLandWhereTheyBelong) {
  const auto probe = [](int64_t epoch, const std::string& number) {
    return line(at(epoch) + "/train#0/step=" + number, "probe", "7");
  };
  std::string expected;
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    bodies[static_cast<std::size_t>(2 * epoch)] = head(epoch, line(at(epoch), "in_front", "1")) +
                                                  block(epoch) + step(epoch, 0) + probe(epoch, "0") +
                                                  step(epoch, 1) + probe(epoch, "1");
    bodies[static_cast<std::size_t>(2 * epoch + 1)] = before(epoch) + probe(epoch, "2") + step(epoch, 2) +
                                                      step(epoch, 3) + probe(epoch, "3") + tail(epoch) +
                                                      line(at(epoch), "behind", "1");
    expected += head(epoch, line(at(epoch), "in_front", "1")) + step(epoch, 0) + probe(epoch, "0") +
                step(epoch, 1) + probe(epoch, "1") + probe(epoch, "2") + step(epoch, 2) + step(epoch, 3) +
                probe(epoch, "3") + tail(epoch) + line(at(epoch), "behind", "1");
  }
  EXPECT_EQ(joined_places(), places(testing::record(expected)));
  plan.selected = {1, 2};
  expected = head(0) + step(0, 0) + step(0, 1) + probe(0, "2") + step(0, 2) + step(0, 3) + probe(0, "3") +
             tail(0) + line(at(0), "behind", "1") + head(1) + step(1, 0) + step(1, 1) + step(1, 2) +
             step(1, 3) + tail(1);
  EXPECT_EQ(joined_places(), places(testing::record(expected)));
}

// Where the record has no row in any step, it cannot tell where steps lie.
TEST_F(Parts, NewRowsInStepsStandBehindWhatTheRecordHasInFrontOfThem) {
  log = head(0) + tail(0) + head(1) + tail(1);
  bodies[1] = before(0) + step(0, 2) + step(0, 3) + tail(0);
  plan.selected = {1, 2};
  EXPECT_EQ(joined_places(),
            places(testing::record(head(0) + step(0, 2) + step(0, 3) + tail(0) + head(1) + tail(1))));
}

}  // namespace
}  // namespace flor::results
