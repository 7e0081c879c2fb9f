#include "logging/background.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/log/printer.h"
#include "gate.h"

namespace flor::logging {
namespace {

using test::Gate;

core::Buffer buffer_of(const std::vector<unsigned char>& bytes) {
  core::Buffer buffer;
  buffer.dtype = "U8";
  buffer.shape = {static_cast<int64_t>(bytes.size())};
  buffer.bytes = bytes.size();
  buffer.data = bytes.data();
  return buffer;
}

Background::Job digest_job(std::size_t size) {
  return [size](const void* bytes) { return core::LateValue{core::digest_of(bytes, size), {}}; };
}

// The promise that asynchronous saves are known to break: later values than those that were logged.
TEST(Background, ValuesAreThoseOfTheCall) {
  Background background(std::size_t{1} << 20);
  std::vector<unsigned char> bytes(10000, 1);
  const std::string before = core::digest_of(bytes.data(), bytes.size());
  Gate gate;
  background.submit(buffer_of(bytes), [&](const void*) {
    gate.pass();
    return core::LateValue{"1", {}};
  });
  const core::Later value = background.submit(buffer_of(bytes), digest_job(bytes.size()));
  std::fill(bytes.begin(), bytes.end(), 2);
  gate.open();
  EXPECT_EQ(value.get().text, before);
}

TEST(Background, StridedAndDeviceMemoryComesThroughTheCopyHook) {
  Background background(std::size_t{1} << 20);
  core::Buffer buffer;
  buffer.bytes = 4;
  buffer.copy = [](void* to) { std::memcpy(to, "abcd", 4); };
  EXPECT_EQ(background.submit(buffer, digest_job(4)).get().text, core::digest_of("abcd"));
  buffer.copy = [](void*) { throw core::Error("the device is gone"); };
  EXPECT_THROW(background.submit(buffer, digest_job(4)), core::Error);
  buffer.copy = nullptr;
  buffer.owned = {'x', 'y', 'z', '!'};
  EXPECT_EQ(background.submit(buffer, digest_job(4)).get().text, core::digest_of("xyz!"));
}

// Who logs faster than the worker works waits, rather than fill the memory.
TEST(Background, CopiesTakeNoMoreThanTheLimit) {
  constexpr std::size_t size = 100000;
  Background background(3 * size);  // with rounding: two of them
  std::atomic<int> copied{0}, worked{0}, most{0};
  core::Buffer buffer;
  buffer.bytes = size;
  buffer.copy = [&](void* to) {
    std::memset(to, 7, size);
    most = std::max<int>(most, ++copied - worked);
  };
  std::vector<core::Later> values;
  for (int i = 0; i < 200; ++i) {
    values.push_back(background.submit(buffer, [&](const void* bytes) {
      for (int round = 0; round < 20; ++round) core::digest_of(bytes, size);
      ++worked;
      return core::LateValue{"1", {}};
    }));
  }
  for (const auto& value : values) EXPECT_EQ(value.get().text, "1");
  EXPECT_EQ(worked, 200);
  EXPECT_GE(most, 2);  // it did run in the background
  EXPECT_LE(most, 2);
}

TEST(Background, ManySmallOnesAreBoundedToo) {
  Background background(std::size_t{1} << 20);
  const std::vector<unsigned char> nothing;
  std::vector<core::Later> values;
  for (int i = 0; i < 20000; ++i) values.push_back(background.submit(buffer_of(nothing), digest_job(0)));
  background.drain();
  for (const auto& value : values) {
    ASSERT_EQ(value.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  }
}

TEST(Background, WhatIsLargerThanTheLimitIsWorkedOnByTheCaller) {
  const std::vector<unsigned char> bytes(5000, 3);
  std::thread::id worked_by;
  for (const std::size_t limit : {std::size_t{0}, std::size_t{4096}}) {
    Background background(limit);
    background.submit(buffer_of(bytes), [&](const void* memory) {
      worked_by = std::this_thread::get_id();
      EXPECT_EQ(memory, bytes.data());  // without a copy
      return core::LateValue{"1", {}};
    });
    EXPECT_EQ(worked_by, std::this_thread::get_id());
  }
  Background background(8192);
  background.submit(buffer_of(bytes), [&](const void*) {
    worked_by = std::this_thread::get_id();
    return core::LateValue{"1", {}};
  });
  background.drain();
  EXPECT_NE(worked_by, std::this_thread::get_id());
}

TEST(Background, AnExceptionBecomesTheValuesError) {
  Background background(4096);
  const std::vector<unsigned char> bytes(10);
  const auto value =
      background
          .submit(buffer_of(bytes), [](const void*) -> core::LateValue { throw core::Error("no \"room\""); })
          .get();
  EXPECT_EQ(value.text, "{\"error\":\"no \\\"room\\\"\"}");
  EXPECT_EQ(value.error, "no \"room\"");
}

TEST(Background, SaysWhenAValueHasCome) {
  std::atomic<int> came{0};
  Background background(4096);
  const std::vector<unsigned char> bytes(10);
  for (int i = 0; i < 5; ++i) background.submit(buffer_of(bytes), digest_job(10), [&] { ++came; });
  background.drain();
  EXPECT_EQ(came, 5);
}

// A data loader's worker: the thread is not there, and locks may be held for ever.
TEST(Background, AForkedChildWorksForItself) {
  Background background(std::size_t{1} << 20);
  const std::vector<unsigned char> bytes(1000, 5);
  Gate gate;
  std::atomic<int> worked{0};
  background.submit(buffer_of(bytes), [&](const void*) {
    gate.pass();
    ++worked;
    return core::LateValue{"1", {}};
  });
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(30);
    const core::Later value = background.submit(buffer_of(bytes), digest_job(bytes.size()));
    background.drain();
    ::_exit(value.get().text == core::digest_of(bytes.data(), bytes.size()) && worked == 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  gate.open();
  background.drain();
  EXPECT_EQ(worked, 1);
}

// A store that does not answer must not stop training.
TEST(Background, WhoFindsNoRoomWithinThePatienceGoesOn) {
  Background background(4096, 0.01);
  const std::vector<unsigned char> bytes(4000, 5);
  Gate gate;
  const core::Later hanging = background.submit(buffer_of(bytes), [&](const void*) {
    gate.pass();
    return core::LateValue{"1", {}};
  });
  for (int i = 0; i < 2; ++i) {
    const core::LateValue value = background.submit(buffer_of(bytes), digest_job(bytes.size())).get();
    EXPECT_NE(value.error.find("does not answer"), std::string::npos);
    EXPECT_EQ(value.text, core::json_text({{"error", value.error}}));
  }
  gate.open();
  background.drain();
  EXPECT_EQ(hanging.get().text, "1");
  EXPECT_EQ(background.submit(buffer_of(bytes), digest_job(bytes.size())).get().error, "");
}

TEST(Background, ALargeFileThatHangsStopsNobody) {
  Background background(64, 0.01);
  std::vector<unsigned char> bytes(1000, 5);
  const std::string before = core::digest_of(bytes.data(), bytes.size());
  Gate gate;
  const core::Later hanging = background.submit(
      buffer_of(bytes),
      [&](const void* copy) {
        gate.pass();
        return core::LateValue{core::digest_of(copy, bytes.size()), {}};
      },
      {}, true);
  std::fill(bytes.begin(), bytes.end(), 6);  // training goes on
  EXPECT_NE(background.submit(buffer_of(bytes), digest_job(bytes.size()), {}, true).get().error, "");
  gate.open();
  background.drain();
  EXPECT_EQ(hanging.get().text, before);
}

TEST(Printer, WaitsForValuesNoLongerThanItsLimit) {
  core::Printer printer;
  std::promise<core::LateValue> value;
  printer.print({"late: ", value.get_future().share(), ""});
  printer.drain(std::chrono::duration<double>(0.01));  // returns
  value.set_value({"1", {}});
  testing::internal::CaptureStdout();
  printer.drain();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "late: 1\n");
}

}  // namespace
}  // namespace flor::logging
