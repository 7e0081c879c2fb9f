// Which replays a program joins.
#include "core/replaying/worker.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <thread>

#include "core/files/durable.h"
#include "core/replaying/worker_lock.h"
#include "core/store/manifest.h"
#include "support/refusal.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

// As of a run that was copied with its links. `flor replay` refuses it, and so does a program that is started
// as its worker by hand.
TEST(WorkerJoins, NoReplayOfACopiedRunBehindALink) {
  const test::TemporaryDirectory directory;
  const Store store(directory / "store");
  const fs::path elsewhere = directory / "elsewhere";
  fs::create_directories(store.run("copied").path);
  fs::create_directory(elsewhere);
  write_manifest(store.run("copied"), Manifest());
  fs::create_directory_symlink(elsewhere, store.run("copied").replays());
  ::setenv("FLOR_STORE", store.path().c_str(), 1);
  ::setenv("FLOR_REPLAY", "copied/r1", 1);
  const std::string said = refusal_of([] { Worker::join(Settings::load()); });
  ::unsetenv("FLOR_STORE");
  ::unsetenv("FLOR_REPLAY");
  EXPECT_NE(said.find("run copied: " + store.run("copied").replays().string() + " is a link"),
            std::string::npos)
      << said;
  EXPECT_TRUE(fs::is_empty(elsewhere));
}

class WorkerLock : public testing::Test {
 protected:
  WorkerLock() {
    ::setenv("SLURMD_NODENAME", "n1", 1);
    ::setenv("FLOR_WORKER", "0", 1);
    fs::create_directories(replay_.workers());
  }
  ~WorkerLock() override {
    for (const char* name : {"SLURMD_NODENAME", "FLOR_WORKER"}) ::unsetenv(name);
    if (holder_ <= 0) return;
    ::kill(-holder_, SIGKILL);
    ::waitpid(holder_, nullptr, 0);
  }

  // Starts a child in a process group of its own that ends with this test. `work` runs in it.
  void hold(const std::function<void()>& work) {
    holder_ = ::fork();
    if (holder_ == 0) {
      ::setpgid(0, 0);
      work();
      ::_exit(0);
    }
    ::setpgid(holder_, holder_);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!present_process(lock_) && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  void take_and_stay() const {
    const Presence presence = Presence::take(lock_);
    while (true) ::pause();
  }
  // As a process that joins: 0 where it runs plainly, 7 where it is the worker.
  [[noreturn]] void join() const { ::_exit(take_worker_lock(run_, replay_, 2) ? 7 : 0); }

  test::TemporaryDirectory directory_;
  const RunDir run_{directory_ / "run"};
  const ReplayDir replay_ = run_.replay("r1");
  const fs::path lock_ = replay_.workers() / "n1.0.lock";
  pid_t holder_ = -1;
};

TEST_F(WorkerLock, LeavesAProcessOfTheSameTaskPlain) {
  hold([this] { take_and_stay(); });
  EXPECT_EXIT(join(), testing::ExitedWithCode(0), "") << "it was started beside the worker";
}

TEST_F(WorkerLock, LeavesAProcessThatTheWorkerStartedPlain) {
  const Presence presence = Presence::take(lock_);
  EXPECT_EXIT(join(), testing::ExitedWithCode(0), "");
}

// As a process that hangs in its node while Slurm has started the job again there.
TEST_F(WorkerLock, OfAStrangerEndsTheProcessInsteadOfTrainingTheWholeProgram) {
  hold([this] {
    if (::fork() == 0) take_and_stay();
    while (true) ::pause();
  });
  EXPECT_EXIT(join(), testing::ExitedWithCode(1), "is the worker n1.0 of replay r1 already");
  ::kill(-holder_, SIGKILL);
  ::waitpid(holder_, nullptr, 0);
  holder_ = -1;
  EXPECT_EXIT(join(), testing::ExitedWithCode(7), "") << "the stranger has ended";
}

TEST_F(WorkerLock, IsAnotherOneForEachStepOfAJob) {
  for (const char* name : {"SLURM_JOB_ID", "SLURM_PROCID"}) ::setenv(name, "5", 1);
  ::setenv("SLURM_STEP_ID", "0", 1);
  const std::string first = worker_name();
  ::setenv("SLURM_STEP_ID", "1", 1);
  EXPECT_NE(worker_name(), first);
  for (const char* name : {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID"}) ::unsetenv(name);
}

}  // namespace
}  // namespace flor::core
