// What a recording makes of the settings that say when checkpoints are taken, how, and which stay.
#include "core/recording/policy_settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

namespace flor::core {
namespace {

class PolicySettings : public ::testing::Test {
 protected:
  ~PolicySettings() override {
    for (const char* key : {"EPSILON", "EVERY", "KEEP", "MATERIALIZER", "MTBF", "STEP_SECONDS"})
      ::unsetenv(("FLOR_" + std::string(key)).c_str());
  }
  // What was said.
  std::string set(const std::map<std::string, std::string>& from_files, bool resumed = false) {
    ::testing::internal::CaptureStderr();
    set_policy(Settings(from_files), m, resumed);
    return ::testing::internal::GetCapturedStderr();
  }
  Manifest m;
};

TEST_F(PolicySettings, EachIsTaken) {
  EXPECT_EQ(set({{"epsilon", "0.25"},
                 {"every", "3"},
                 {"keep", "2"},
                 {"materializer", "fork"},
                 {"mtbf", "1h"},
                 {"step_seconds", "0"}}),
            "");
  EXPECT_EQ(m.epsilon, 0.25);
  EXPECT_EQ(m.every, 3);
  EXPECT_EQ(m.keep, 2);
  EXPECT_EQ(m.materializer, "fork");
  EXPECT_EQ(m.mtbf, 3600.0);
  EXPECT_EQ(m.step_seconds, 0.0);
}

// "5%" was once read as 5: five hundred per cent.
TEST_F(PolicySettings, OneThatIsNoneIsToldInOneLineAndPassedOver) {
  const std::string said = set({{"epsilon", "5%"},
                                {"every", "often"},
                                {"keep", "0"},
                                {"materializer", "threads"},
                                {"mtbf", "2w"},
                                {"step_seconds", "-1"}});
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 6) << said;
  EXPECT_NE(
      said.find("flor: warning: epsilon is the share of training time that recording may cost, a number "
                "above 0 such as 0.0667; '5%' is not (FLOR_EPSILON, or epsilon in flor.conf) and is "
                "passed over\n"),
      std::string::npos)
      << said;
  const Manifest untouched;
  EXPECT_EQ(m.epsilon, untouched.epsilon);
  EXPECT_EQ(m.every, untouched.every);
  EXPECT_EQ(m.keep, untouched.keep);
  EXPECT_EQ(m.materializer, untouched.materializer);
  EXPECT_EQ(m.mtbf, untouched.mtbf);
  EXPECT_EQ(m.step_seconds, untouched.step_seconds);
}

TEST_F(PolicySettings, AResumedRunHearsTheEnvironmentButNoFile) {
  set({{"epsilon", "0.25"}, {"mtbf", "1h"}});
  ::setenv("FLOR_MTBF", "2h", 1);
  ::setenv("FLOR_EVERY", "x", 1);
  const std::string said = set({{"epsilon", "0.5"}, {"mtbf", "3h"}, {"keep", "some"}}, true);
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_EQ(m.epsilon, 0.25);
  EXPECT_EQ(m.mtbf, 7200.0);
}

}  // namespace
}  // namespace flor::core
