// Which materializer is taken where the user leaves it open, or asks for what cannot be.
#include <fstream>

#include "core/base/error.h"
#include "core/materialize/memory.h"
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

TEST(MemoryHereTest, IsSomething) {
  EXPECT_GT(available_memory(), 1U << 20);
}

}  // namespace
}  // namespace flor::core
