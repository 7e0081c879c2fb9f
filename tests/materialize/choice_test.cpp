// Which materializer is taken where the user leaves it open, or asks for what cannot be.
#include <sys/resource.h>

#include <fstream>

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

class MemoryTest : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    const fs::path path = root_ / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  test::TemporaryDirectory root_;
};

TEST_F(MemoryTest, IsThatOfTheMachine) {
  write("proc/meminfo", "MemTotal:       1000 kB\nMemFree: 5 kB\nMemAvailable:    600 kB\n");
  EXPECT_EQ(available_memory(root_.path()), 600U << 10);
}

TEST_F(MemoryTest, IsWhatAnyControlGroupLeaves) {
  write("proc/meminfo", "MemAvailable:    600 kB\n");
  write("proc/self/cgroup", "0::/slurm/job_7/step_0\n");
  write("sys/fs/cgroup/slurm/job_7/memory.max", "500000\n");
  write("sys/fs/cgroup/slurm/job_7/memory.current", "200000\n");
  write("sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n");
  write("sys/fs/cgroup/slurm/job_7/step_0/memory.current", "1000\n");
  EXPECT_EQ(available_memory(root_.path()), 300000U);
}

TEST_F(MemoryTest, IsWhatAGroupOfTheFirstVersionLeaves) {
  write("proc/meminfo", "MemAvailable:    600 kB\n");
  write("proc/self/cgroup", "11:cpu,cpuacct:/\n4:memory:/slurm/uid_7/job_7\n0::/elsewhere\n");
  write("sys/fs/cgroup/memory/slurm/uid_7/job_7/memory.limit_in_bytes", "500000\n");
  write("sys/fs/cgroup/memory/slurm/uid_7/job_7/memory.usage_in_bytes", "450000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "480000\n");
  EXPECT_EQ(available_memory(root_.path()), 50000U);
  write("sys/fs/cgroup/memory/slurm/uid_7/job_7/memory.stat",
        "cache 200000\ntotal_inactive_file 150000\ntotal_active_file 50000\n");
  EXPECT_EQ(available_memory(root_.path()), 250000U) << "the cache of files is dropped first";
}

TEST_F(MemoryTest, CountsAGroupsCacheOfFiles) {
  write("proc/self/cgroup", "0::/job_7\n");
  write("sys/fs/cgroup/job_7/memory.max", "500000\n");
  write("sys/fs/cgroup/job_7/memory.current", "490000\n");
  write("sys/fs/cgroup/job_7/memory.stat", "anon 90000\ninactive_file 300000\nactive_file 100000\n");
  EXPECT_EQ(available_memory(root_.path()), 410000U);
}

// Between two steps training has less than within one, and takes it again while a copy is written.
TEST_F(MemoryTest, IsNotWhatTrainingWillTakeAgain) {
  write("proc/meminfo", "MemAvailable:    600 kB\n");
  write("proc/self/status", "Name:\tpython3\nVmPeak:\t 9000 kB\nVmHWM:\t 500 kB\nVmRSS:\t 200 kB\n");
  EXPECT_EQ(available_memory(root_.path()), 300U << 10);
  EXPECT_EQ(available_memory(root_.path(), 250U << 10), 550U << 10) << "of its peak that was a copy";
  EXPECT_EQ(available_memory(root_.path(), 900U << 10), 600U << 10);
  write("proc/self/status", "VmHWM:\t 5000 kB\nVmRSS:\t 200 kB\n");
  EXPECT_EQ(available_memory(root_.path()), 0U);
}

// A sanitizer needs more addresses than such a limit leaves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(MemoryTest, IsWhatTheLimitOfTheAddressSpaceLeaves) {
  write("proc/meminfo", "MemAvailable:    60000000 kB\n");
  write("proc/self/status", "VmPeak:\t 3000000 kB\n");
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = std::size_t{4000000} << 10;
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  const std::size_t available = available_memory(root_.path());
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(available, std::size_t{1000000} << 10);
}
#endif

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

TEST(MemoryHereTest, IsSomething) {
  EXPECT_GT(available_memory(), 1U << 20);
}

}  // namespace
}  // namespace flor::core
