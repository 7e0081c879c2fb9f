// Children of the library's own: the program that forks, waits and handles signals must not notice them.
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "core/files/durable.h"
#include "core/materialize/fork/child.h"
#include "core/process/spawn.h"
#include "recording.h"

namespace flor::core {
namespace {

using test::Recording;
using test::Tensor;

std::atomic<int> child_signals{0};
void count_signal(int) {
  child_signals += 1;
}

class Children : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    child_signals = 0;
    before_ = ::signal(SIGCHLD, count_signal);
  }
  void TearDown() override { ::signal(SIGCHLD, before_); }
  Recording run_{GetParam()};
  Tensor tensor_{1 << 20};
  void (*before_)(int) = nullptr;
};
INSTANTIATE_TEST_SUITE_P(Forking, Children, testing::Values("fork", "fork-batch"), [](const auto& info) {
  return info.param == "fork" ? std::string("fork") : std::string("fork_batch");
});

TEST_P(Children, SendNoSignalAndAreNotWaitedFor) {
  run_.begin(0, {tensor_.buffer("0")});
  int status = 0;
  EXPECT_EQ(::waitpid(-1, &status, 0), -1);
  EXPECT_EQ(errno, ECHILD);
  run_.materializer().drain();
  EXPECT_EQ(run_.last().error, "");
  EXPECT_EQ(child_signals, 0);
}

// As the agent is started.
TEST(Detached, IsNoChildOfThisProcess) {
  const test::TemporaryDirectory directory;
  child_signals = 0;
  const auto before = ::signal(SIGCHLD, count_signal);
  const fs::path file = directory / "done";
  EXPECT_TRUE(start_detached(
      {"/bin/sh", "-c",
       "echo $PPID > " + file.string() + ".tmp; mv " + file.string() + ".tmp " + file.string()}));
  int status = 0;
  EXPECT_EQ(::waitpid(-1, &status, __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
  while (!fs::exists(file)) std::this_thread::yield();
  EXPECT_NE(read_file(file), std::to_string(::getpid()) + "\n");
  EXPECT_EQ(child_signals, 0);
  EXPECT_FALSE(start_detached({(directory / "none").string()}));
  ::signal(SIGCHLD, before);
}

// The child would go on sharing it.
TEST(ForkedChild, GetsACopyOfMemoryThatIsShared) {
  constexpr std::size_t count = std::size_t{4} << 20;
  Recording run("fork");
  SharedMemory memory(count * sizeof(float));
  auto* values = static_cast<float*>(memory.data());
  std::fill_n(values, count, 1.0F);
  Buffer buffer = Buffer::of_bytes("0", "F32", {}, nullptr, 0);
  buffer.shape = {static_cast<int64_t>(count)};
  buffer.bytes = count * sizeof(float);
  buffer.data = values;
  run.begin(0, {buffer});
  std::fill_n(values, count, 2.0F);
  run.materializer().drain();
  EXPECT_EQ(run.last().error, "");
  EXPECT_EQ(run.values(0, "0"), std::vector<float>(count, 1.0F));
}

// What cannot be begun takes no room of the batch, and what was in it is told.
TEST(ForkBatch, AFailureLosesAndOverrunsNothing) {
  const test::TemporaryDirectory directory;
  const RunDir run{directory.path()};
  const auto materializer = make_fork_batch_materializer(Tiers(run, {}), std::size_t{64} << 10);
  const Tensor tensor(10000);  // 40 kB
  int done = 0;
  const auto job = [&](int epoch) {
    return MaterializeJob{"train", "epoch=0/train#0", Recording::file(epoch), {}, [&](const Materialized& m) {
                            done += m.error.empty() ? 1 : 0;
                          }};
  };
  std::ofstream(run.checkpoints()).flush();  // a file where the directory belongs
  for (int i = 0; i < 200; ++i) EXPECT_NE(materializer->materialize(job(i), {tensor.buffer("0")}), "");
  fs::remove(run.checkpoints());
  for (int i = 0; i < 3; ++i) {
    while (!materializer->ready(tensor.values.size() * sizeof(float), 0)) std::this_thread::yield();
    EXPECT_EQ(materializer->materialize(job(i), {tensor.buffer("0")}), "");
  }
  materializer->drain();
  EXPECT_EQ(done, 3);
}

TEST_P(Children, LeaveTheProgramsOwnChildrenAlone) {
  const pid_t own = ::fork();
  if (own == 0) ::_exit(7);
  ASSERT_GT(own, 0);
  run_.take(0, {tensor_.buffer("0")});
  int status = 0;
  EXPECT_EQ(::waitpid(own, &status, 0), own);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(child_signals, 1);
}

// A program that ignores SIGCHLD: the kernel reaps its children, and the results must come all the same.
TEST_P(Children, WorkInAProgramThatIgnoresSigchld) {
  ::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(run_.take(0, {tensor_.buffer("0")}).error, "");
  EXPECT_EQ(run_.values(0, "0"), tensor_.values);
}

// Other threads may hold any lock at the moment of the fork.
TEST_P(Children, NeedNoLockOfTheProgram) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        std::vector<std::string> strings;
        for (int k = 0; k < 50; ++k) strings.emplace_back(100 + k, 'x');
      }
    });
  }
  for (int epoch = 0; epoch < 50; ++epoch) {
    tensor_.write(static_cast<float>(epoch));
    EXPECT_EQ(run_.take(epoch, {tensor_.buffer("0")}).error, "");
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(run_.values(49, "0"), tensor_.values);
}

struct Shown {
  int descriptors = 0;
  bool blocked = false;
};

TEST(ChildTest, HoldsNoFileAndHandlesNoSignalOfTheProgram) {
  SharedMemory memory(sizeof(Shown));
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = spawn_child(
      [](void* shown) noexcept {
        auto& out = *static_cast<Shown*>(shown);
        for (int fd = 0; fd < 1000; ++fd) out.descriptors += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
        sigset_t blocked;
        ::sigprocmask(SIG_SETMASK, nullptr, &blocked);
        out.blocked = ::sigismember(&blocked, SIGTERM) == 1;
      },
      memory.data(), ends[0]);
  EXPECT_TRUE(wait_for_child(child));
  const auto& shown = *static_cast<Shown*>(memory.data());
  EXPECT_EQ(shown.descriptors, 1);
  EXPECT_TRUE(shown.blocked);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(ChildTest, AKilledChildIsSaid) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = spawn_child([](void*) noexcept { ::pause(); }, nullptr, ends[0]);
  ::kill(child, SIGKILL);
  EXPECT_FALSE(wait_for_child(child));
  ::close(ends[0]);
  ::close(ends[1]);
}

// The thread that let the child commit waits for it now.
bool waits_for_its_child() {
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    std::ifstream in(task.path() / "syscall");
    long number = -1;
    if (in >> number && number == SYS_wait4) return true;
  }
  return false;
}

// A save that a child has finished is there, although its trainer was killed meanwhile.
TEST(ChildTest, FinishesWhatItsKilledTrainerBegan) {
  test::TemporaryDirectory directory;
  const RunDir dir{directory.path()};
  const pid_t trainer = ::fork();
  if (trainer == 0) {
    const Tensor tensor(8 << 20, 3.0F);
    auto materializer = make_fork_materializer(dir);
    std::atomic<bool> allowed{false};
    materializer->materialize(
        {"train", "epoch=0/train#0", Recording::file(0), [&] { allowed = true; }, [](const Materialized&) {}},
        {tensor.buffer("0")});
    while (!allowed || !waits_for_its_child()) std::this_thread::yield();
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_GT(trainer, 0);
  ::waitpid(trainer, nullptr, 0);
  for (int i = 0; i < 1000 && !fs::exists(dir.path / Recording::file(0)); ++i) ::usleep(10000);
  EXPECT_TRUE(Checkpoint::verify(dir, Recording::file(0)).empty());
}

}  // namespace
}  // namespace flor::core
