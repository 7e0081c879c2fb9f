#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <thread>

#include "core/base/error.h"
#include "core/base/shell_words.h"
#include "core/files/durable.h"
#include "dispatch/local.h"
#include "dispatch/private_redis.h"
#include "dispatch/process.h"
#include "queue/redis.h"

namespace flor::dispatch {
namespace {

class LauncherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "flor-launcher-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    order_.replay = {directory_ / "r1"};
    order_.cwd = directory_;
  }
  void TearDown() override { fs::remove_all(directory_); }

  void command(const std::string& script) { order_.command = {"sh", "-c", script}; }
  std::string output(int worker) const {
    return core::read_file(order_.replay.workers() / ("worker-" + std::to_string(worker) + ".out"));
  }
  // Waits for the event, at most ten seconds.
  static bool eventually(const std::function<bool()>& happened) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (std::chrono::steady_clock::now() < deadline) {
      if (happened()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return happened();
  }
  static bool alive(pid_t pid) {
    // A zombie that waits for a foreign parent is dead.
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(stat, text);
    return !text.empty() && text.substr(text.rfind(')') + 2, 1) != "Z";
  }

  fs::path directory_;
  WorkerOrder order_;
};

TEST_F(LauncherTest, StartsWorkersWithTheirEnvironment) {
  const char* flag_of_a_job = "SLURM_SPANK__SLURM_SPANK_OPTION_flor_flor_record";
  command(
      "echo $FLOR_REPLAY $FLOR_WORKER; echo to-stderr >&2; test -z "
      "\"$FLOR_RECORD$FLOR_NAME$SLURM_SPANK_FLOR_SET$SLURM_SPANK_FLOR_INHERITED$" +
      std::string(flag_of_a_job) + "\"");
  order_.environment["FLOR_REPLAY"] = "run/r1";
  // As in a job that was submitted with --flor-record --flor-name.
  const std::vector<const char*> of_a_job{"FLOR_RECORD", "FLOR_NAME", "SLURM_SPANK_FLOR_SET",
                                          "SLURM_SPANK_FLOR_INHERITED", flag_of_a_job};
  for (const char* name : of_a_job) ::setenv(name, "1", 1);
  LocalLauncher launcher(order_);
  launcher.start(2);
  for (const char* name : of_a_job) ::unsetenv(name);
  EXPECT_TRUE(eventually([&] { return !launcher.liveness().any(); }));
  EXPECT_EQ(output(0), "run/r1 0\nto-stderr\n");
  EXPECT_EQ(output(1), "run/r1 1\nto-stderr\n");
  EXPECT_EQ(launcher.failure_tail(), "");
}

TEST_F(LauncherTest, TellsTheEndOfAFailedWorkersOutput) {
  command("seq 30; echo 'what went wrong' >&2; exit 7");
  LocalLauncher launcher(order_);
  launcher.start(1);
  EXPECT_TRUE(eventually([&] { return !launcher.liveness().any(); }));
  const std::string tail = launcher.failure_tail();
  EXPECT_NE(tail.find("worker-0.out (exit code 7):"), std::string::npos) << tail;
  EXPECT_NE(tail.find("what went wrong"), std::string::npos) << tail;
  EXPECT_EQ(tail.find("\n20\n"), std::string::npos) << tail;
}

TEST_F(LauncherTest, AProgramThatHangsIsKilledAtItsLimit) {
  const Result hung = run({"sh", "-c", "echo first; exec sleep 1000"}, std::chrono::milliseconds(200));
  EXPECT_EQ(hung.code, kTimedOut);
  EXPECT_EQ(hung.out, "first\n");
  EXPECT_EQ(run({"sh", "-c", "exit 3"}, std::chrono::minutes(1)).code, 3);
}

TEST_F(LauncherTest, AnEarlierCommandsOutputIsNotTheFailure) {
  fs::create_directories(order_.replay.workers());
  std::ofstream(order_.replay.workers() / "worker-0.out") << "an old error\n";
  command("exit 1");
  LocalLauncher launcher(order_);
  launcher.start(1);
  EXPECT_TRUE(eventually([&] { return !launcher.liveness().any(); }));
  EXPECT_EQ(launcher.failure_tail().find("an old error"), std::string::npos);
}

TEST_F(LauncherTest, CancelReachesWhatAScriptStarted) {
  command("sleep 1000 & echo $!; wait");
  LocalLauncher launcher(order_);
  launcher.start(1);
  ASSERT_TRUE(eventually([&] { return !output(0).empty(); }));
  const pid_t inner = std::stoi(output(0));
  EXPECT_TRUE(alive(inner));
  launcher.cancel();
  EXPECT_FALSE(launcher.liveness().any());
  EXPECT_TRUE(eventually([&] { return !alive(inner); }));
}

TEST_F(LauncherTest, CancelEndsWorkersThatIgnoreSigterm) {
  command("trap '' TERM; echo ready; while :; do sleep 0.1; done");
  LocalLauncher launcher(order_);
  launcher.start(1);
  ASSERT_TRUE(eventually([&] { return !output(0).empty(); }));
  launcher.cancel();
  EXPECT_FALSE(launcher.liveness().any());
}

TEST_F(LauncherTest, NothingOutlivesAKilledLauncher) {
  command("sleep 1000 & echo $!; wait");
  const pid_t parent = ::fork();
  if (parent == 0) {
    LocalLauncher launcher(order_);
    launcher.start(1);
    while (true) ::pause();
  }
  const auto file = order_.replay.workers() / "worker-0.out";
  ASSERT_TRUE(eventually([&] { return fs::exists(file) && !output(0).empty(); }));
  const pid_t inner = std::stoi(output(0));
  EXPECT_TRUE(alive(inner));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return !alive(inner); }));
}

TEST_F(LauncherTest, FinishWaitsForThoseWhoLeave) {
  command("sleep 0.3; echo left");
  LocalLauncher launcher(order_);
  launcher.start(1);
  launcher.finish(std::chrono::seconds(10));
  EXPECT_EQ(output(0), "left\n");
}

TEST_F(LauncherTest, AProgramThatIsNotThereIsOneLine) {
  order_.command = {"./no-such-program"};
  LocalLauncher launcher(order_);
  EXPECT_THROW(launcher.start(1), core::UsageError);
}

TEST(Local, Places) {
  EXPECT_EQ(local_places(3, 64, "8"), 3U);
  EXPECT_EQ(local_places(0, 64, "8"), 8U);
  EXPECT_EQ(local_places(0, 2, "8"), 1U);
  EXPECT_EQ(local_places(0, 2, ""), 2U);
}

TEST(Local, VisibleGpus) {
  const std::string listing =
      "GPU 0: NVIDIA H200 (UUID: GPU-a)\n  MIG 1g (UUID: MIG-b)\nGPU 1: NVIDIA H200 (UUID: GPU-c)\n";
  EXPECT_EQ(visible_gpus(listing, nullptr), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(visible_gpus(listing, "1"), (std::vector<std::string>{"1"}));
  EXPECT_EQ(visible_gpus(listing, "GPU-c,GPU-a"), (std::vector<std::string>{"GPU-c", "GPU-a"}));
  EXPECT_TRUE(visible_gpus(listing, "").empty());
  EXPECT_TRUE(visible_gpus(listing, "-1").empty());
  EXPECT_TRUE(visible_gpus("", nullptr).empty());
}

TEST(Process, RunCollectsOutputAndCode) {
  const Result result = run({"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(run({"sh", "-c", "kill -9 $$"}).code, 137);
}

TEST(Process, FindProgram) {
  EXPECT_TRUE(fs::exists(find_program("sh")));
  EXPECT_THROW(find_program("no-such-program-at-all"), core::UsageError);
  EXPECT_THROW(find_program("/"), core::UsageError);
  EXPECT_THROW(find_program("/etc/passwd"), core::UsageError);
}

TEST(Process, ShellQuoting) {
  for (const char* word : {"", "plain", "with space", "it's", "$HOME `x` \"y\"", "new\nline", "-n", "a*b"}) {
    EXPECT_EQ(run({"sh", "-c", "printf %s " + core::shell_quoted(word)}).out, word);
  }
}

TEST_F(LauncherTest, PrivateRedisAnswersAndIsGoneAfterwards) {
  if (!has_program("redis-server")) GTEST_SKIP() << "redis-server is not installed";
  std::string url;
  {
    PrivateRedis redis(directory_ / "workers");
    url = redis.url();
    queue::Redis client(url);
    EXPECT_EQ(client.command({"PING"}).text, "PONG");
    EXPECT_EQ(client.command({"CONFIG", "GET", "maxmemory-policy"}).at(1).text, "noeviction");
    // Its socket is there before Redis closes it to others.
    const std::string info = client.command({"INFO", "server"}).text;
    const std::string server = info.substr(info.find("process_id:") + 11);
    std::ifstream status("/proc/" + server.substr(0, server.find('\r')) + "/status");
    const std::string all{std::istreambuf_iterator<char>(status), std::istreambuf_iterator<char>()};
    EXPECT_NE(all.find("\nUmask:\t0077\n"), std::string::npos) << all;
  }
  queue::Redis client(url);
  EXPECT_THROW(client.command({"PING"}), queue::RedisDown);
  EXPECT_TRUE(fs::is_empty(directory_ / "workers"));
}

TEST_F(LauncherTest, PrivateRedisOfADeepStoreLiesElsewhere) {
  if (!has_program("redis-server")) GTEST_SKIP() << "redis-server is not installed";
  const fs::path deep = directory_ / std::string(60, 'a') / std::string(60, 'b');
  PrivateRedis redis(deep);
  EXPECT_LT(redis.url().size(), 108U);
  queue::Redis client(redis.url());
  EXPECT_EQ(client.command({"PING"}).text, "PONG");
}

}  // namespace
}  // namespace flor::dispatch
