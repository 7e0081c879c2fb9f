// What a monitoring system reads of a store.
#include "dashboard/data/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace flor::dashboard {
namespace {

using core::Json;

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

Json recording(const std::string& id, const std::string& name) {
  return {{"id", id},           {"name", name},     {"status", "recording"},
          {"user", "ada"},      {"job", "7"},       {"done", 3},
          {"of", 12},           {"seconds", 4.5},   {"epsilon", 0.0667},
          {"overhead", 0.0125}, {"checkpoints", 3}, {"bytes", 1000}};
}

TEST(Metrics, CountRunsByStatusAndDescribeThoseThatAreRecorded) {
  const std::string text = metrics_text(
      {{"runs",
        {recording("r1", "exp"),
         {{"id", "r2"}, {"status", "completed"}, {"checkpoints", 2}, {"bytes", 500}, {"overhead", nullptr}},
         {{"id", "r3"}, {"status", "unreadable"}, {"problem", "damaged"}}}}},
      {});
  for (const char* line :
       {"# TYPE flor_runs gauge", "flor_runs{status=\"recording\"} 1", "flor_runs{status=\"completed\"} 1",
        "flor_runs{status=\"unreadable\"} 1", "flor_runs{status=\"killed\"} 0", "flor_checkpoints 5",
        "flor_checkpoint_bytes 1500",
        "flor_recording_iterations{run=\"r1\",name=\"exp\",user=\"ada\",job=\"7\"} 3",
        "flor_recording_overhead_ratio{run=\"r1\",name=\"exp\",user=\"ada\",job=\"7\"} 0.0125"})
    EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
  EXPECT_EQ(text.find("\"r2\""), std::string::npos) << "a run that is over has no line of its own";
}

TEST(Metrics, NoNameLeavesItsQuotes) {
  const std::string text =
      metrics_text({{"runs", {recording("r1", "a\"} 1\nevil{x=\"\\ \xff \x1b[0m")}}}, {});
  EXPECT_EQ(text.find("\nevil"), std::string::npos) << text;
  EXPECT_NE(text.find(R"(name="a\"} 1\\u000aevil{x=\"\\ )"), std::string::npos) << text;
  EXPECT_EQ(text.find('\xff'), std::string::npos) << "Prometheus refuses what is no UTF-8";
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Metrics, AReplayHasItsQueueAndItsTime) {
  ReplayUnderWay replay;
  replay.run = "r1";
  replay.replay = "p1";
  replay.units = 10;
  replay.committed = 4;
  replay.running = 2;
  replay.interrupted = 1;
  replay.workers = 2;
  replay.totals.held = 30;
  replay.totals.worked = 20;
  replay.totals.redone = 4;
  replay.totals.restored = 1.5;
  const std::string text = metrics_text({{"runs", Json::array()}}, {replay});
  const std::string labels = R"({run="r1",replay="p1"} )";
  for (const auto& line :
       {"flor_replay_units" + labels + "10", "flor_replay_units_committed" + labels + "4",
        "flor_replay_units_waiting" + labels + "4", "flor_replay_executions_interrupted" + labels + "1",
        "flor_replay_restore_seconds" + labels + "1.5",
        std::string(R"(flor_replay_worker_seconds{run="r1",replay="p1",kind="idle"} 6)")})
    EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
}

TEST(Metrics, WhatIsNoNumberIsWrittenAsPrometheusWantsIt) {
  ReplayUnderWay replay;
  replay.totals.restored = std::nan("");
  replay.totals.worked = HUGE_VAL;
  const std::string text = metrics_text({}, {replay});
  EXPECT_NE(text.find("flor_replay_restore_seconds{run=\"\",replay=\"\"} NaN\n"), std::string::npos) << text;
  EXPECT_NE(text.find("kind=\"worked\"} +Inf\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace flor::dashboard
