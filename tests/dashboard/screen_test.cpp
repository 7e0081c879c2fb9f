// What `flor watch` draws.
#include "dashboard/terminal/screen.h"

#include <gtest/gtest.h>

#include "dashboard/terminal/gantt.h"

namespace flor::dashboard {
namespace {

using core::Json;

Json run(const std::string& name, const std::string& status, int64_t done) {
  return {{"id", "id-" + name},
          {"name", name},
          {"status", status},
          {"host", "n1"},
          {"job", "7"},
          {"loop", "epoch"},
          {"done", done},
          {"of", 10},
          {"seconds", 5.0},
          {"checkpoints", 2},
          {"bytes", 2000},
          {"command", {"./train"}},
          {"args", {{"lr", "0.1"}}},
          {"values", {{"loss", 0.25}}}};
}

Json store_of(const std::vector<Json>& runs) {
  return {{"store", "/store"}, {"runs", runs}};
}

std::string joined(const Screen& screen) {
  std::string out;
  for (const auto& line : screen.lines) out += line + "\n";
  return out;
}

TEST(Screen, ShowsWhatIsRecordedFirst) {
  View view;
  view.width = 120;
  view.height = 8;
  const Screen screen =
      screen_of_runs(store_of({run("old", "completed", 10), run("new", "recording", 5)}), view);
  ASSERT_EQ(screen.lines.size(), 8U);
  EXPECT_EQ(screen.lines[0], "/store: 2 runs, 1 recording");
  EXPECT_NE(screen.lines[2].find("new                      recording  ████████░░░░░░░░ 5/10        5.0 s"),
            std::string::npos)
      << screen.lines[2];
  EXPECT_NE(screen.lines[2].find("loss 0.25"), std::string::npos);
  EXPECT_EQ(screen.lines[3].find("old"), 0U);
  EXPECT_EQ(screen.lines[7], "q: quit   /: filter");
}

TEST(Screen, FitsTheTerminalAndHasPages) {
  std::vector<Json> runs;
  for (int i = 0; i < 100; ++i) runs.push_back(run("r" + std::to_string(i), "completed", 10));
  View view;
  view.width = 30;
  view.height = 13;
  view.page = 4;
  const Screen screen = screen_of_runs(store_of(runs), view);
  EXPECT_EQ(screen.pages, 10U);
  EXPECT_EQ(screen.lines.size(), 13U);
  EXPECT_EQ(screen.lines[2].find("r40 "), 0U);
  for (const auto& line : screen.lines) EXPECT_LE(line.size(), 30U * 3);
  EXPECT_EQ(screen.lines[12], "q: quit   /: filter   n, p: pa");
  view.page = 99;
  EXPECT_EQ(screen_of_runs(store_of(runs), view).lines[2].find("r90 "), 0U) << "the last page";
  for (std::size_t height : {0U, 1U, 2U, 3U}) {
    view.height = height;
    EXPECT_LE(screen_of_runs(store_of(runs), view).lines.size(), height);
    EXPECT_LE(screen_of_run({{"line", runs[0]}, {"series", Json::array()}, {"replays", Json::array()}}, view)
                  .lines.size(),
              height);
  }
}

TEST(Screen, FindsRunsByAllWords) {
  View view;
  view.filter = "lr=0.1 exp";
  const std::string text =
      joined(screen_of_runs(store_of({run("exp1", "completed", 10), run("other", "completed", 10)}), view));
  EXPECT_NE(text.find("1 run of 2"), std::string::npos) << text;
  EXPECT_NE(text.find("exp1"), std::string::npos);
  EXPECT_EQ(text.find("other "), std::string::npos);
}

TEST(Screen, ShowsNoControlCharacters) {
  Json evil = run("\x1b[2J\x07name", "recording", 1);
  evil["values"] = {{"\x1b]0;owned\x07", "NaN"}};
  const std::string text = joined(screen_of_runs(store_of({evil}), {})) + line_of_run(evil);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
}

TEST(Screen, OfARunHasCurvesAndReplays) {
  View view;
  view.width = 60;
  view.height = 12;
  const Json one{{"line", run("exp", "recording", 5)},
                 {"series", {{{"name", "loss"}, {"y", {4.0, 3.0, nullptr, 1.0}}}}},
                 {"replays", {{{"id", "r1"}, {"state", "identical"}, {"committed", 6}, {"selected", 6}}}}};
  const Screen screen = screen_of_run(one, view);
  EXPECT_EQ(screen.lines[0], "exp: recording on n1, job 7");
  EXPECT_EQ(screen.lines[2], "████████░░░░░░░░ 5/10 epoch, about 5.0 s left, 2 checkpoints");
  EXPECT_EQ(screen.lines[4], "loss                   █▆ ▁                     1.0");
  EXPECT_EQ(screen.lines[6], "replay r1: identical, 6 of 6 units");
}

TEST(Screen, OfAReplayThatGoesOnShowsWhatEachWorkerDoes) {
  View view;
  view.width = 56;  // 20 for the time
  view.height = 12;
  // From 100 to 120, one letter a second: [unit, began, seconds, restore, given up].
  const auto rows = [](std::initializer_list<Json> units) { return Json(std::vector<Json>(units)); };
  const Json busy{{"worker", "n1.0"},
                  {"units", rows({{0, 100.0, 8.0, 2.0, nullptr},
                                  {1, 108.0, 2.0, 0.0, nullptr},
                                  {3, 112.0, nullptr, 1.0, nullptr}})}};
  const Json dead{{"worker", "n2.0"},
                  {"units", rows({{2, 104.0, nullptr, 0.0, 109.0}, {4, 115.0, 0.3, 0.0, nullptr}})}};
  Json replay{{"id", "r1"}, {"state", "unfinished"}, {"committed", 2}, {"selected", 6}};
  replay["work"] = {{"workers", {busy, dead}}, {"now", 120.0}, {"totals", {{"left", {5.0, 8.0}}}}};
  const Json one{{"line", run("exp", "completed", 10)}, {"series", Json::array()}, {"replays", {replay}}};
  const Screen screen = screen_of_run(one, view);
  EXPECT_EQ(screen.lines[5], "replay r1: unfinished, 2 of 6 units, about 5.0 s to 8.0 ");
  EXPECT_EQ(screen.lines[6], "n1.0                   ▓▓████████  ▓░░░░░░░");
  EXPECT_EQ(screen.lines[7], "n2.0                       ×××××      ·    ");
  EXPECT_EQ(screen.lines[8], "                       █ units, ▓ restores, ░ running, ×");
  view.is_utf8 = false;
  EXPECT_EQ(screen_of_run(one, view).lines[6], "n1.0                   rr########  r-------");
}

TEST(Screen, OfManyWorkersSaysHowManyItLeavesOut) {
  Json workers = Json::array();
  for (int i = 0; i < 20; ++i)
    workers.push_back({{"worker", "w" + std::to_string(i)}, {"units", Json::array()}});
  workers[0]["units"].push_back({0, 1.0, 1.0, 0.0, nullptr});
  const auto lines = gantt_lines({{"workers", workers}, {"now", nullptr}}, 4, 10, 16, false);
  ASSERT_EQ(lines.size(), 17U);
  EXPECT_EQ(lines[0], "w0   ##########");
  EXPECT_EQ(lines[1], "w1             ");
  EXPECT_EQ(lines[16], "and 4 more workers");
  EXPECT_TRUE(gantt_lines({{"workers", Json::array()}, {"now", 5.0}}, 4, 10, 16, true).empty());
}

TEST(Curve, HasAsManyLettersAsItIsWide) {
  Json numbers = Json::array();
  for (int i = 0; i < 1000; ++i) numbers.push_back(i);
  EXPECT_EQ(curve(numbers, 8, true), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(curve(numbers, 8, false), "_.-~=+*#");
  EXPECT_EQ(curve({1.0, 1.0}, 4, false), "__  ");
  EXPECT_EQ(curve(Json::array(), 3, true), "   ");
}

TEST(Screen, IsALineWhereThereIsNoTerminal) {
  EXPECT_EQ(line_of_run(run("exp", "recording", 5)), "exp: recording 5/10, 5.0 s left, loss 0.25");
  EXPECT_EQ(line_of_run(run("exp", "completed", 10)), "exp: completed 10/10, loss 0.25");
}

}  // namespace
}  // namespace flor::dashboard
