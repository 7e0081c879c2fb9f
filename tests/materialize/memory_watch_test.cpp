// How much memory a copy of state may take beside training.
#include "core/materialize/memory_watch.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "core/materialize/staging.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;

class MemoryTest : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    const fs::path path = root_ / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  // In kB. Kernels before 4.5 do not say what of it are files.
  void process(int peak, int now) { status({{"VmHWM", peak}, {"VmRSS", now}}); }
  void process_with_files(int peak, int now, int shared, int files) {
    status({{"VmHWM", peak},
            {"VmRSS", now + shared + files},
            {"RssAnon", now},
            {"RssFile", files},
            {"RssShmem", shared}});
  }
  void status(const std::vector<std::pair<std::string, int>>& lines) {
    std::string text = "Name:\tpython3\nVmPeak:\t 9000 kB\n";
    for (const auto& [name, kib] : lines) text += name + ":\t " + std::to_string(kib) + " kB\n";
    write("proc/self/status", text);
  }
  std::size_t available() { return MemoryWatch(root_.path()).available(); }

  test::TemporaryDirectory root_;
};

TEST_F(MemoryTest, IsThatOfTheMachine) {
  write("proc/meminfo", "MemTotal:       1000 kB\nMemFree: 5 kB\nMemAvailable:    600 kB\n");
  EXPECT_EQ(available(), 600U << 10);
}

TEST_F(MemoryTest, IsWhatAnyControlGroupLeaves) {
  write("proc/meminfo", "MemAvailable:    600 kB\n");
  write("proc/self/cgroup", "0::/slurm/job_7/step_0\n");
  write("sys/fs/cgroup/slurm/job_7/memory.max", "500000\n");
  write("sys/fs/cgroup/slurm/job_7/memory.current", "200000\n");
  write("sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n");
  write("sys/fs/cgroup/slurm/job_7/step_0/memory.current", "1000\n");
  EXPECT_EQ(available(), 300000U);
}

TEST_F(MemoryTest, IsWhatAGroupOfTheFirstVersionLeaves) {
  write("proc/meminfo", "MemAvailable:    600 kB\n");
  write("proc/self/cgroup", "11:cpu,cpuacct:/\n4:memory:/slurm/uid_7/job_7\n0::/elsewhere\n");
  write("sys/fs/cgroup/memory/slurm/uid_7/job_7/memory.limit_in_bytes", "500000\n");
  write("sys/fs/cgroup/memory/slurm/uid_7/job_7/memory.usage_in_bytes", "450000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "480000\n");
  EXPECT_EQ(available(), 50000U);
  write("sys/fs/cgroup/memory/slurm/uid_7/job_7/memory.stat",
        "cache 200000\ntotal_inactive_file 150000\ntotal_active_file 50000\n");
  EXPECT_EQ(available(), 250000U) << "the cache of files is dropped first";
}

TEST_F(MemoryTest, CountsAGroupsCacheOfFiles) {
  write("proc/self/cgroup", "0::/job_7\n");
  write("sys/fs/cgroup/job_7/memory.max", "500000\n");
  write("sys/fs/cgroup/job_7/memory.current", "490000\n");
  write("sys/fs/cgroup/job_7/memory.stat", "anon 90000\ninactive_file 300000\nactive_file 100000\n");
  EXPECT_EQ(available(), 410000U);
}

// Between two steps training has less than within one, and takes it again while a copy is written.
TEST_F(MemoryTest, IsNotWhatTrainingWillTakeAgain) {
  write("proc/meminfo", "MemAvailable:    600 kB\n");
  process(500, 200);
  EXPECT_EQ(available(), 300U << 10);
  process(5000, 200);
  EXPECT_EQ(available(), 0U);
}

// Those of a data set that training has mapped.
TEST_F(MemoryTest, PagesOfFilesAreNotTrainings) {
  write("proc/meminfo", "MemAvailable:    900 kB\n");
  MemoryWatch watch(root_.path());
  process_with_files(800, 200, 0, 600);
  EXPECT_EQ(watch.available(), 900U << 10);
  process_with_files(900, 200, 0, 600);
  EXPECT_EQ(watch.available(), 800U << 10) << "training had 100 kB more";
  process_with_files(900, 350, 50, 100);
  EXPECT_EQ(watch.available(), 900U << 10);
  process_with_files(900, 200, 0, 100);
  EXPECT_EQ(watch.available(), 700U << 10) << "it has been seen with 400 kB";
}

TEST_F(MemoryTest, PagesOfFilesAreLookedAtAnewBehindACopy) {
  write("proc/meminfo", "MemAvailable:    900 kB\n");
  MemoryWatch watch(root_.path());
  process_with_files(800, 200, 0, 600);
  watch.copy_begins(100U << 10);
  process_with_files(900, 300, 0, 600);
  watch.copy_ends(100U << 10);
  process_with_files(200, 200, 0, 0);
  EXPECT_EQ(watch.available(), 900U << 10);
  watch.copy_begins(100U << 10);
  process_with_files(300, 300, 0, 0);
  watch.copy_ends(100U << 10);
  process_with_files(700, 200, 0, 0);
  EXPECT_EQ(watch.available(), 400U << 10) << "at this peak there were no files";
}

TEST_F(MemoryTest, ACopyIsNoPartOfWhatTrainingTakes) {
  write("proc/meminfo", "MemAvailable:    900 kB\n");
  MemoryWatch watch(root_.path());
  process(500, 200);
  watch.copy_begins(250U << 10);
  process(750, 450);
  watch.copy_ends(250U << 10);
  std::string reset;
  std::getline(std::ifstream(root_.path() / "proc/self/clear_refs"), reset);
  EXPECT_EQ(reset, "5");
  process(200, 200);
  EXPECT_EQ(watch.available(), 600U << 10);
  process(600, 200);
  EXPECT_EQ(watch.available(), 500U << 10) << "training took more than ever";
}

// Nobody knows whether it was in memory at the peak.
TEST_F(MemoryTest, ACopyThatIsStillToComeIsNoPartOfThePeak) {
  write("proc/meminfo", "MemAvailable:    900 kB\n");
  MemoryWatch watch(root_.path());
  process(500, 200);
  watch.look();
  watch.copy_begins(250U << 10);
  process(500, 450);
  watch.copy_ends(250U << 10);
  process(200, 200);
  EXPECT_EQ(watch.available(), 600U << 10);
}

TEST_F(MemoryTest, APeakThatCannotBeResetIsTrainingsWithTheCopy) {
  write("proc/meminfo", "MemAvailable:    900 kB\n");
  fs::create_directories(root_.path() / "proc/self/clear_refs");
  MemoryWatch watch(root_.path());
  process(500, 200);
  watch.copy_begins(250U << 10);
  process(750, 450);
  watch.copy_ends(250U << 10);
  process(750, 200);
  EXPECT_EQ(watch.available(), 350U << 10);
}

// Those of a loader, which it ends with its epoch and starts again with the next.
TEST_F(MemoryTest, IsNotWhatFurtherProcessesWillTakeAgain) {
  write("proc/meminfo", "MemAvailable:    900000 kB\n");
  write("proc/self/cgroup", "0::/job_7/step_0\n");
  write("sys/fs/cgroup/job_7/memory.max", "500000\n");
  for (const char* group :
       {"sys/fs/cgroup/job_7/memory.current", "sys/fs/cgroup/job_7/step_0/memory.current"})
    write(group, "400000\n");
  MemoryWatch watch(root_.path());
  watch.look();
  for (const char* group :
       {"sys/fs/cgroup/job_7/memory.current", "sys/fs/cgroup/job_7/step_0/memory.current"})
    write(group, "100000\n");
  EXPECT_EQ(watch.available(), 100000U);
  write("sys/fs/cgroup/job_7/memory.max", "max\n");
  EXPECT_EQ(watch.available(), std::size_t{900000} << 10) << "others may be in a group without a limit";
}

TEST_F(MemoryTest, IsWhatSlurmLeavesWhereNoGroupHasALimit) {
  ::setenv("SLURM_MEM_PER_NODE", "10", 1);
  ::setenv("SLURM_STEP_TASKS_PER_NODE", "2(x3),1", 1);
  write("proc/meminfo", "MemAvailable:    900000 kB\n");
  process(2000, 1000);
  EXPECT_EQ(available(), (5U << 20) - (2000U << 10));
  write("proc/self/cgroup", "4:memory:/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "480000\n");
  EXPECT_EQ(available(), (5U << 20) - (2000U << 10));
  write("proc/self/cgroup", "0::/job_7\n");
  write("sys/fs/cgroup/job_7/memory.max", "90000000\n");
  write("sys/fs/cgroup/job_7/memory.current", "0\n");
  EXPECT_EQ(available(), 90000000U - (1000U << 10));
  ::unsetenv("SLURM_MEM_PER_NODE");
  ::unsetenv("SLURM_STEP_TASKS_PER_NODE");
}

TEST_F(MemoryTest, SlurmCountsPagesOfFiles) {
  ::setenv("SLURM_MEM_PER_NODE", "10", 1);
  MemoryWatch watch(root_.path());
  process_with_files(5000, 1000, 0, 3000);
  EXPECT_EQ(watch.available(), (10U << 20) - (5000U << 10));
  process_with_files(5000, 1000, 1000, 4000);
  EXPECT_EQ(watch.available(), (10U << 20) - (6000U << 10));
  ::unsetenv("SLURM_MEM_PER_NODE");
}

// A program may set variables from another thread meanwhile.
TEST_F(MemoryTest, TheEnvironmentIsReadOnce) {
  ::setenv("SLURM_MEM_PER_NODE", "10", 1);
  process(2000, 1000);
  MemoryWatch watch(root_.path());
  ::unsetenv("SLURM_MEM_PER_NODE");
  EXPECT_EQ(watch.available(), (10U << 20) - (2000U << 10));
}

TEST(MemoryHereTest, PeaksAreResetAndSeen) {
  MemoryWatch watch;
  watch.look();
  constexpr std::size_t bytes = std::size_t{64} << 20;
  watch.copy_begins(bytes);
  { const std::vector<char> copy(bytes, 1); }
  watch.copy_ends(bytes);
  const MemoryReading reset = read_memory();
  EXPECT_LT(reset.peak, reset.now + reset.files + bytes / 2);
  EXPECT_GT(watch.available(), 1U << 20);
}

// A sanitizer needs more addresses than such a limit leaves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
class AddressesTest : public MemoryTest {
 protected:
  void SetUp() override { write("proc/meminfo", "MemAvailable:    60000000 kB\n"); }
  // All in kB.
  void addresses(int now, int most) {
    write("proc/self/status",
          "VmPeak:\t " + std::to_string(most) + " kB\nVmSize:\t " + std::to_string(now) + " kB\n");
  }
  static std::size_t left_of(int addresses, MemoryWatch& watch) {
    rlimit before = {};
    EXPECT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
    rlimit limit = before;
    limit.rlim_cur = static_cast<std::size_t>(addresses) << 10;
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
    const std::size_t left = watch.available();
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
    return left >> 10;
  }
};

TEST_F(AddressesTest, AreWhatTheLimitLeaves) {
  addresses(2000000, 3000000);
  MemoryWatch watch(root_.path());
  EXPECT_EQ(left_of(4000000, watch), 1000000U);
}

TEST_F(AddressesTest, OfACopyThatStayAreThereForTheNextOne) {
  addresses(1800000, 2000000);
  MemoryWatch watch(root_.path());
  constexpr std::size_t copy = std::size_t{500000} << 10;
  watch.maps(0, copy);
  watch.copy_begins(copy);
  addresses(2300000, 2300000);
  EXPECT_EQ(left_of(4000000, watch), 1500000U) << "the copy is in them";
  watch.copy_ends(copy);
  EXPECT_EQ(left_of(4000000, watch), 2000000U) << "training had as much before they were mapped";
  addresses(2700000, 2900000);
  EXPECT_EQ(left_of(4000000, watch), 1600000U) << "training took more";
  addresses(2200000, 2900000);
  watch.maps(copy, 0);
  EXPECT_EQ(left_of(4000000, watch), 1600000U);
  addresses(2500000, 2900000);
  EXPECT_EQ(left_of(4000000, watch), 1500000U) << "what training has now is its own";
}

TEST(StagingMemory, IsNoPartOfTheAddressesThatTrainingTakes) {
  MemoryWatch& watch = MemoryWatch::here();
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  watch.look();
  rlimit limit = before;
  limit.rlim_cur = read_memory().most_addresses + (std::size_t{512} << 20);
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  const std::size_t left = watch.available();
  {
    Staging staging;
    staging.require(std::size_t{96} << 20);
    staging.give_back();
    EXPECT_GE(watch.available() + (std::size_t{8} << 20), left);
  }
  EXPECT_GE(watch.available() + (std::size_t{8} << 20), left);
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
}
#endif

}  // namespace
}  // namespace flor::core
