// Which materializer is taken where the user leaves it open, or asks for what cannot be.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/materialize/memory.h"
#include "core/materialize/snapshot_room.h"
#include "recording.h"

namespace flor::core {
namespace {

TEST(ChoiceTest, AnUnknownNameIsSaid) {
  EXPECT_THROW(make_materializer("quantum", RunDir{"/tmp"}), UsageError);
}

TEST(ChoiceTest, StateOnADeviceIsNotForked) {
  for (const char* name : {"fork", "fork-batch", "auto"}) {
    test::Recording run(name);
    const test::Tensor tensor(100);
    Buffer buffer = tensor.buffer("0");
    buffer.device = true;
    buffer.data = nullptr;
    buffer.copy = [&](void* to) { std::memcpy(to, tensor.values.data(), 400); };
    testing::internal::CaptureStderr();
    EXPECT_EQ(run.take(0, {buffer}).error, "");
    EXPECT_EQ(run.take(1, {buffer}).error, "");
    const std::string said = testing::internal::GetCapturedStderr();
    const std::string expected = "cannot be used: state lies on a GPU";
    EXPECT_EQ(said.find(expected) != std::string::npos, std::string(name) != "auto") << said;
    EXPECT_EQ(said.find(expected), said.rfind(expected));  // once
    EXPECT_EQ(run.values(1, "0"), tensor.values);
  }
}

// srun --gres=gpu:1 --mem=32G with 60 GB of state on the GPU: each try would have the job killed.
TEST(CopyTest, WhatDoesNotFitIsNotTried) {
  constexpr std::size_t gb = 1000000000;
  EXPECT_NE(why_no_copy(60 * gb, CopyFrom::device, 24 * gb).find("takes 60.0 GB, and only 24.0 GB"),
            std::string::npos)
      << why_no_copy(60 * gb, CopyFrom::device, 24 * gb);
  EXPECT_EQ(why_no_copy(15 * gb, CopyFrom::device, 24 * gb), "");
  EXPECT_NE(why_no_copy(15 * gb, CopyFrom::device, 9 * gb), "") << "training has taken the room since";
}

// Training in host memory allocates more within a step than it has between two of them.
TEST(CopyTest, InHostMemoryHalfIsLeftToTraining) {
  constexpr std::size_t gb = 1000000000;
  EXPECT_EQ(why_no_copy(4 * gb, CopyFrom::host, 12 * gb), "");
  EXPECT_NE(why_no_copy(4 * gb, CopyFrom::host, 11 * gb).find("materializer inline"), std::string::npos);
}

constexpr std::size_t gib = std::size_t{1} << 30;

// An 80 GB GPU: training peaks at 70, its state is 30, and 40 are kept to be used again at an epoch's end.
TEST(SnapshotRoomTest, LeavesTrainingWhatItEverHadInUse) {
  DeviceMemory memory{9 * gib, 70 * gib, 30 * gib, 70 * gib, 0};
  EXPECT_FALSE(has_room_for_copy(memory, gib * 30));
  EXPECT_TRUE(has_room_for_copy(memory, gib * 8));
  EXPECT_FALSE(has_room_for_copy(memory, gib * 8 + 1));
  memory.allocated += 5 * gib;
  memory.copies = 5 * gib;
  EXPECT_TRUE(has_room_for_copy(memory, gib * 3)) << "copies of one checkpoint count together";
  EXPECT_FALSE(has_room_for_copy(memory, gib * 4));
}

TEST(SnapshotRoomTest, IsNotKnownBeforeTrainingHasComputed) {
  EXPECT_FALSE(has_room_for_copy({70 * gib, 9 * gib, 9 * gib, 9 * gib, 0}, gib));
  EXPECT_TRUE(has_room_for_copy({60 * gib, 19 * gib, 9 * gib, 18 * gib, 0}, gib));
}

}  // namespace
}  // namespace flor::core
