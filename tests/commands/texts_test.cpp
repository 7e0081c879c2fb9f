#include <gtest/gtest.h>

#include "commands/base/exit_code.h"
#include "commands/base/options.h"
#include "commands/replay/progress.h"
#include "commands/replay/summary.h"

namespace flor::commands {
namespace {

Snapshot snapshot(std::size_t done, double cost_done, double elapsed) {
  Snapshot now;
  now.units = 12;
  now.done = done;
  now.cost = 48;
  now.cost_done = cost_done;
  now.elapsed = elapsed;
  now.makespan = 12;
  now.running = 4;
  return now;
}

TEST(Progress, Eta) {
  EXPECT_DOUBLE_EQ(*eta(snapshot(0, 0, 2)), 10);   // from the plan
  EXPECT_FALSE(eta(snapshot(0, 0, 13)));           // later than planned, and no rate yet
  EXPECT_DOUBLE_EQ(*eta(snapshot(3, 12, 6)), 18);  // from the rate
  EXPECT_DOUBLE_EQ(*eta(snapshot(12, 48, 20)), 0);
}

TEST(Progress, Texts) {
  EXPECT_EQ(progress_line(snapshot(3, 12, 6)), "3 of 12 units, 4 workers, 6.0 s, about 18.0 s left");
  EXPECT_EQ(progress_bar(snapshot(3, 12, 6), 200),
            "[######------------------] 3 of 12 units, 4 workers, 6.0 s, about 18.0 s left");
  EXPECT_EQ(progress_bar(snapshot(3, 12, 6), 10).size(), 10U);
  Snapshot waiting = snapshot(0, 0, 20);
  waiting.running = 1;
  waiting.waiting = 3;
  EXPECT_EQ(progress_line(waiting), "0 of 12 units, 1 worker (3 waiting for a place), 20.0 s");
  EXPECT_EQ(progress_json(snapshot(3, 12, 6))["eta"], 18.0);
}

TEST(Texts, Seconds) {
  EXPECT_EQ(shown_seconds(0.04), "0.0 s");
  EXPECT_EQ(shown_seconds(59.94), "59.9 s");
  EXPECT_EQ(shown_seconds(60), "1:00");
  EXPECT_EQ(shown_seconds(3725), "1:02:05");
  EXPECT_EQ(counted(1, "unit"), "1 unit");
  EXPECT_EQ(counted(0, "unit"), "0 units");
}

TEST(Summary, SaysWhatAUserWantsToKnow) {
  core::Plan plan;
  plan.run = "run";
  plan.replay = "r1";
  plan.segments = {{0, 2}, {2, 4}};
  plan.workers = 2;
  plan.serial = 8;
  plan.bound = 4;
  plan.probes = {
      {"norm", "train.cpp", 3, "train"}, {"quiet", "train.cpp", 4, ""}, {"norm", "train.cpp", 9, ""}};
  plan.reasons = {"train.cpp:3: log added inside block train: it executes"};
  results::Verdict verdict;
  verdict.judgement = results::Judgement::identical;
  verdict.values = 20;
  verdict.digests = 1;
  verdict.seconds = 5;
  verdict.units = {{0, 5, 0, 5, 1, 0}, {1, 5, 1, 6, 1, 0}, {2, 5, 0, 5, 1, 0}, {3, 5, 0, 5, 0, 1}};
  verdict.workers = {{{"worker", "n1.0"}, {"node", "n1"}, {"job", "42"}, {"task", "0"}, {"units", {0, 1, 3}}},
                     {{"worker", "n2.1"}, {"units", core::Json::array()}}};
  verdict.silent_probes = {"quiet"};
  EXPECT_EQ(summary(plan, verdict, true),
            "replay r1 of run run: identical\n"
            "  4 units; compared with the record: 20 values and 1 state digest\n"
            "  blocks: 3 executed, 1 skipped\n"
            "  train.cpp:3: log added inside block train: it executes\n"
            "  took 5.0 s; by the recorded times one worker alone would take 8.0 s, 1.6 times as long (at "
            "best 2.0 times with 2 "
            "workers)\n"
            "  worker n1.0 on n1, job 42 task 0: units 0-1, 3\n"
            "  worker n2.1: no unit\n"
            "  probe quiet logged nothing\n"
            "read the rows: flor log run --names norm,quiet");
  EXPECT_EQ(summary(plan, verdict, false).find("as long"), std::string::npos);
  const core::Json json = summary_json(plan, verdict);
  EXPECT_EQ(json["event"], "verdict");
  EXPECT_EQ(json["verdict"], "identical");
  EXPECT_EQ(json["estimate"]["bound"], 4.0);
}

TEST(Summary, ShowsTheFirstDifferencesOnce) {
  core::Plan plan;
  plan.run = "run";
  plan.replay = "r1";
  results::Verdict verdict;
  verdict.judgement = results::Judgement::differs;
  for (int k = 0; k < 8; ++k) verdict.differences.push_back({"epoch=" + std::to_string(k), "loss", 1, 2});
  verdict.reasons = {"first difference: " + results::describe(verdict.differences.front())};
  const std::string text = summary(plan, verdict, true);
  EXPECT_NE(text.find("differs"), std::string::npos);
  std::size_t shown = 0;
  for (std::size_t at = text.find("loss at"); at != std::string::npos; at = text.find("loss at", at + 1))
    ++shown;
  EXPECT_EQ(shown, 5U);
}

TEST(ExitCodes, OfVerdicts) {
  EXPECT_EQ(exit_code_of(results::Judgement::identical), 0);
  EXPECT_EQ(exit_code_of(results::Judgement::differs), 3);
  EXPECT_EQ(exit_code_of(results::Judgement::unproved), 4);
}

}  // namespace
}  // namespace flor::commands
