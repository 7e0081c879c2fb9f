// A small program's recorded rows and its units' logs, and what verdict.h says of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "program.h"
#include "results/verdict/verdict.h"

namespace flor::results {

inline constexpr int64_t epochs = 3;

// The program: log(start); for epoch { block train { for step { log(loss) } } log(acc) } log(end).
inline std::string train(int64_t epoch, const std::string& last = "0.25") {
  const std::string at = "epoch=" + std::to_string(epoch) + "/train#0/step=";
  return testing::line(at + "0", "loss", "0.5") + testing::line(at + "1", "loss", last);
}
inline std::string acc(int64_t epoch) {
  return testing::line("epoch=" + std::to_string(epoch), "acc", "0.75");
}
inline std::string block(int64_t epoch) {
  return "epoch=" + std::to_string(epoch) + "/train#0";
}

// A recording of the program and its replay, equal until a test changes one of them.
class Check : public ::testing::Test {
 protected:
  Check() {
    log = testing::line("", "start", "1");
    for (int64_t epoch = 0; epoch < epochs; ++epoch) {
      log += train(epoch) + acc(epoch);
      bodies.push_back(testing::executed(block(epoch)) + train(epoch) + acc(epoch));
    }
    log += testing::line("", "end", "2");
    bodies.front() = testing::line("", "start", "1") + bodies.front();
    bodies.back() += testing::loop_end(epochs - 1, epochs - 1) + testing::line("", "end", "2");
    plan.complete = plan.execute_all = true;
  }

  Verdict judged() {
    std::vector<UnitLog> units;
    for (const int64_t id : plan.selected.ids()) {
      const auto at = static_cast<std::size_t>(id);
      units.push_back(testing::unit_log(plan.units[at], bodies[at]));
    }
    return judge(manifest, plan, Record(testing::record(log), manifest), units, extras);
  }

  // Expects exactly one difference, and the values of both sides ("" is none).
  void expect_difference(const std::string& at, const std::string& name, const std::string& recorded,
                         const std::string& replayed) {
    const Verdict verdict = judged();
    EXPECT_EQ(verdict.judgement, Judgement::differs);
    ASSERT_EQ(verdict.differences.size(), 1U);
    const Difference& difference = verdict.differences.front();
    EXPECT_EQ(difference.at, at);
    EXPECT_EQ(difference.name, name);
    auto text = [](const core::Json& value) { return value.is_null() ? "" : core::json_text(value); };
    EXPECT_EQ(text(difference.recorded), recorded);
    EXPECT_EQ(text(difference.replayed), replayed);
    ASSERT_FALSE(verdict.reasons.empty());
    EXPECT_NE(verdict.reasons.front().find("first difference: " + name), std::string::npos)
        << verdict.reasons.front();
  }

  core::Manifest manifest = testing::manifest(epochs);
  core::Plan plan = testing::plan(epochs);
  std::string log;
  std::vector<std::string> bodies;
  Extras extras;
};

}  // namespace flor::results
