// What the page shows of a replay, made once for all who look at it.
#include "dashboard/data/replays.h"

#include <gtest/gtest.h>

#include <fstream>
#include <optional>

#include "core/files/file_lock.h"
#include "core/store/manifest.h"
#include "core/store/plan.h"
#include "support/temporary.h"

namespace flor::dashboard {
namespace {

class Replays : public ::testing::Test {
 protected:
  Replays() {
    core::Manifest manifest;
    manifest.id = "r1";
    core::fs::create_directories(run_.path);
    core::write_manifest(run_, manifest);
    core::Plan plan;
    plan.run = "r1";
    plan.replay = "x";
    for (int64_t i = 0; i < 3; ++i) {
      plan.units.push_back({i, i, i, ""});
      plan.selected.add(i);
    }
    core::fs::create_directories(run_.replay("x").units());
    std::ofstream(run_.replay("x").plan()) << core::to_json(plan).dump();
  }

  test::TemporaryDirectory directory_;
  core::RunDir run_ = core::Store(directory_.path()).run("r1");
};

TEST_F(Replays, TheNumberOfUnitsStandsForThem) {
  const auto shown = replay_data(run_, "x");
  EXPECT_EQ(shown["plan"]["planned"], 3);
  EXPECT_FALSE(shown["plan"].contains("units"));
  EXPECT_EQ(shown["selected"], 3);
}

TEST_F(Replays, ATextIsMadeAnewWhereFilesChanged) {
  ReplayCache cache;
  EXPECT_EQ(cache.seconds(), 0);
  const auto first = cache.text_of(run_, "x");
  EXPECT_EQ(cache.text_of(run_, "x"), first);
  EXPECT_GT(cache.seconds(), 0);
  std::ofstream(run_.replay("x").units() / "000000.jsonl") << "{}\n";
  const auto second = cache.text_of(run_, "x");
  EXPECT_NE(second, first);
  EXPECT_NE(second->find("\"committed\":1"), std::string::npos) << *second;
}

TEST_F(Replays, TheTextOfOneThatGoesOnStaysForAWhileWhateverChanges) {
  double now = 100;
  ReplayCache cache([&now] { return now; });
  std::optional<core::FileLock> lives = core::FileLock::take(run_.replay("x").path / ".answering.lock");
  const auto first = cache.text_of(run_, "x");
  const auto commit = [this](const char* unit) { std::ofstream(run_.replay("x").units() / unit) << "{}\n"; };
  commit("000000.jsonl");
  EXPECT_EQ(cache.text_of(run_, "x"), first);
  now += 1;
  const auto second = cache.text_of(run_, "x");
  EXPECT_NE(second->find("\"committed\":1"), std::string::npos) << *second;
  lives.reset();
  now += 1;
  EXPECT_NE(cache.text_of(run_, "x"), second);
  const auto over = cache.text_of(run_, "x");
  commit("000001.jsonl");
  EXPECT_NE(cache.text_of(run_, "x"), over) << "nobody looks again at one that is over";
}

TEST_F(Replays, WhoHasAVersionIsSentWhatIsNew) {
  const auto work = [this](const std::string& lines) {
    core::fs::create_directories(run_.replay("x").workers());
    std::ofstream(run_.replay("x").workers() / "n1.7.work.jsonl") << lines;
  };
  const std::string first = R"({"unit":0,"began":100,"seconds":2,"restore":0.5})"
                            "\n";
  work(first + R"({"unit":1,"began":102})"
               "\n");
  ReplayCache cache;
  const auto answer = [&](const std::string& have) {
    return core::parse_json(*cache.text_of(run_, "x", have));
  };
  const auto before = answer("");
  const std::string have = before["version"];
  EXPECT_FALSE(before["work"]["workers"][0].contains("from"));
  EXPECT_EQ(before["work"]["workers"][0]["units"].size(), 2U);

  EXPECT_EQ(answer(have)["work"]["workers"][0]["units"].size(), 0U) << "nothing is new";
  work(first + R"({"unit":1,"began":102})"
               "\n"
               R"({"unit":1,"began":102,"seconds":3})"
               "\n"
               R"({"unit":2,"began":105,"seconds":1})"
               "\n");
  std::ofstream(run_.replay("x").units() / "000001.jsonl") << "{}\n";
  const auto after = answer(have);
  const auto& worker = after["work"]["workers"][0];
  EXPECT_NE(after["version"], have);
  EXPECT_EQ(worker["from"], 1) << "the second unit is another: it is done";
  ASSERT_EQ(worker["units"].size(), 2U);
  EXPECT_EQ(worker["units"][0][2], 3);
  EXPECT_EQ(worker["units"][1][0], 2);
  EXPECT_EQ(after["plan"], before["plan"]);
  const auto whole = answer("another server's");
  EXPECT_EQ(whole["work"]["workers"][0]["units"].size(), 3U);
  EXPECT_FALSE(whole["work"]["workers"][0].contains("from"));
}

// A planted one of 58 MB took 500 MB more while it was kept.
TEST_F(Replays, OfALargeOneTheWholeTextAloneIsKept) {
  core::fs::create_directories(run_.replay("x").workers());
  std::ofstream(run_.replay("x").workers() / "n1.7.work.jsonl") << R"({"unit":0,"began":100,"seconds":2})"
                                                                << "\n";
  const std::size_t size = ReplayCache().text_of(run_, "x")->size();
  for (const bool is_large : {true, false}) {
    ReplayCache cache(core::monotonic_seconds, is_large ? size - 1 : size);
    const auto whole = cache.text_of(run_, "x");
    const std::string have = core::parse_json(*whole)["version"];
    EXPECT_EQ(cache.text_of(run_, "x", have) == whole, is_large);
  }
}

TEST(WorkSeen, TheRestKeepsAllButTheUnitsThatWereSent) {
  const core::Json data = core::parse_json(
      R"({"id":"x","work":{"now":7,"workers":[{"worker":"a","units":[[1],[2]],"gpu":"0"},{"worker":"b","units":[[3]]}]},"end":1})");
  WorkSeen seen = seen_of(data["work"]);
  seen.erase("b");
  seen["a"].pop_back();
  // In the order that the values are written in.
  EXPECT_EQ(
      core::json_text(rest_of(data, seen)),
      R"({"id":"x","end":1,"work":{"now":7,"workers":[{"worker":"a","gpu":"0","units":[[2]],"from":1},{"worker":"b","units":[[3]],"from":0}]}})");
}

}  // namespace
}  // namespace flor::dashboard
