#include "core/events/live_events.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/events/event_records.h"
#include "core/files/durable.h"
#include "core/files/trusted_file.h"
#include "core/log/row_file.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;

class LiveEventsTest : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("FLOR_TENSORBOARD", "1", 1); }
  void TearDown() override { ::unsetenv("FLOR_TENSORBOARD"); }

  std::vector<fs::path> files() const {
    std::vector<fs::path> out;
    if (!fs::exists(events_)) return out;
    for (const auto& entry : fs::directory_iterator(events_)) out.push_back(entry.path());
    return out;
  }

  // The records of the only file, behind the one that begins it.
  std::string records() const {
    const std::string text = read_regular(AT_FDCWD, files().at(0), Links::refused, any_size);
    return text.substr(record(file_version_event(0)).size());
  }

  // Length and checksum of the records as they are for this step, tag and value, whatever their time was.
  static bool holds(const std::string& records, int64_t step, const std::string& tag, float value) {
    const std::string event = scalar_event({0, step}, tag, value);
    return records.find(event.substr(9)) != std::string::npos;  // behind the time
  }

  const TemporaryDirectory directory_;
  const fs::path log_ = directory_ / "log.jsonl", events_ = directory_ / "tensorboard";
};

TEST_F(LiveEventsTest, HaveTheRowsAtTheirSteps) {
  const auto events = LiveEvents::begin(events_, log_);
  ASSERT_NE(events, nullptr);
  events->take(
      "{\"name\":\"loss\",\"value\":0.5,\"@at\":\"epoch=3\"}\n"
      "{\"@event\":\"ended\",\"@attempt\":1}\n"
      "{\"name\":\"worst\",\"value\":\"NaN\",\"@at\":\"epoch=3\"}\n"
      "{\"name\":\"text\",\"value\":\"abc\",\"@at\":\"epoch=3\"}\n");
  const std::string all = records();
  EXPECT_TRUE(holds(all, 3, "loss", 0.5F));
  EXPECT_NE(all.find("worst"), std::string::npos);
  EXPECT_EQ(all.find("text"), std::string::npos);
}

TEST_F(LiveEventsTest, StepsOfTwoLoopsGoOn) {
  const auto events = LiveEvents::begin(events_, log_);
  std::string lines;
  for (int epoch = 1; epoch < 4; ++epoch) {
    for (int step = 0; step < 5; ++step)
      lines += "{\"name\":\"loss\",\"value\":" + std::to_string(10 * epoch + step) +
               ",\"@at\":\"epoch=" + std::to_string(epoch) + "/step=" + std::to_string(step) + "\"}\n";
  }
  events->take(lines);
  const std::string all = records();
  for (int i = 0; i < 15; ++i)
    EXPECT_TRUE(holds(all, i, "loss", static_cast<float>(10 * (i / 5 + 1) + i % 5))) << i;
}

TEST_F(LiveEventsTest, ALogThatIsThereAlreadyTellsTheSteps) {
  std::string lines;
  for (int step = 0; step < 5; ++step)
    lines += R"({"name":"loss","value":1.0,"@at":"epoch=0/step=)" + std::to_string(step) + "\"}\n";
  write_durably(log_, lines);
  const auto events = LiveEvents::begin(events_, log_);
  events->take("{\"name\":\"loss\",\"value\":2.0,\"@at\":\"epoch=2/step=1\"}\n");
  EXPECT_TRUE(holds(records(), 11, "loss", 2.0F));
}

TEST_F(LiveEventsTest, AnotherOneBeginsAFurtherFile) {
  const auto one = LiveEvents::begin(events_, log_), other = LiveEvents::begin(events_, log_);
  EXPECT_EQ(files().size(), 2U);
}

TEST_F(LiveEventsTest, AreWrittenBesideTheRowsOfALog) {
  {
    RowFile rows(directory_ / "logs");
    rows.append(Line(R"({"name":"loss","value":0.25,"@at":"epoch=1"})"));
  }
  std::string all;
  for (const auto& entry : fs::directory_iterator(directory_ / "logs"))
    if (entry.path().extension() == ".flor")
      all = read_regular(AT_FDCWD, entry.path(), Links::refused, any_size);
  EXPECT_TRUE(holds(all, 1, "loss", 0.25F));
}

TEST_F(LiveEventsTest, EndWithOneWarningWhereTheyCannotBeWritten) {
  write_durably(events_, "no directory");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(LiveEvents::begin(events_, log_), nullptr);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("event files of TensorBoard are not written"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

TEST_F(LiveEventsTest, AreForThoseWhoWantThem) {
  for (const char* value : {"", "0"}) {
    ::setenv("FLOR_TENSORBOARD", value, 1);
    EXPECT_EQ(LiveEvents::begin(events_, log_), nullptr);
  }
  ::setenv("FLOR_TENSORBOARD", "yes", 1);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(LiveEvents::begin(events_, log_), nullptr);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("FLOR_TENSORBOARD=yes"), std::string::npos);
  EXPECT_TRUE(files().empty());
}

}  // namespace
}  // namespace flor::core
