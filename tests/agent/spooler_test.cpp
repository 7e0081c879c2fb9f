// The agent and the local tier: what a recording finished comes to the store, whoever is killed.
#include <poll.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "agent/processes.h"
#include "core/agent/client.h"
#include "core/tier/drain.h"
#include "support/local_checkpoints.h"
#include "support/tiny_disk.h"

namespace flor::test {
namespace {

namespace fs = core::fs;
using core::AgentClient;

class SpoolerTest : public ::testing::Test {
 protected:
  SpoolerTest() : both(dir.path()), socket((dir.path() / "agent" / "a.sock").string()) {}
  ~SpoolerTest() override {
    const pid_t pid = Agent::listening(socket);
    if (pid > 0) ::kill(pid, SIGTERM);
  }

  AgentClient::Hello hello() const {
    AgentClient::Hello out;
    out.mode = "record";
    out.run = both.run.id();
    out.run_dir = both.run.path.string();
    out.local = both.local.path.string();
    return out;
  }
  AgentClient::Options options(double patience_s = 5) const {
    AgentClient::Options out;
    out.socket = socket;
    out.agent = FLOR_AGENT;
    out.patience_s = patience_s;
    return out;
  }
  std::vector<std::string> with_tier() const { return {"--local", both.tier.string()}; }
  bool all_is_brought() const {
    return eventually([&] { return !fs::exists(both.local.path); });
  }

  TempDir dir;
  TwoTiers both;
  std::string socket;
};

// A recording that writes checkpoint after checkpoint until it is killed (recorder_main).
class Recording {
 public:
  Recording(const TwoTiers& both, const std::string& socket, const std::string& agent) {
    int out[2];
    if (::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
    from_ = out[0];
    child_ =
        std::make_unique<Child>(std::vector<std::string>{"/proc/self/exe", "recorder", both.run.path.string(),
                                                         both.local.path.string(), socket, agent},
                                -1, out[1], dir_.path() / "stderr");
    ::close(out[1]);
  }
  ~Recording() { ::close(from_); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Waits until it said that `count` more checkpoints are finished. False: it takes too long.
  bool finish(int count) {
    for (; count > 0; --count) {
      pollfd ready{from_, POLLIN, 0};
      char byte = 0;
      if (::poll(&ready, 1, 30000) != 1 || ::read(from_, &byte, 1) != 1) return false;
      ++finished_;
    }
    return true;
  }
  void kill() {
    child_->signal(SIGKILL);
    child_->wait();
    char byte = 0;
    while (::read(from_, &byte, 1) == 1) ++finished_;
  }
  int finished() const { return finished_; }

 private:
  TempDir dir_;
  int from_ = -1;
  int finished_ = 0;
  std::unique_ptr<Child> child_;
};

TEST_F(SpoolerTest, WhatLiesInTheConfiguredTierIsBrought) {
  both.write(20);
  const Agent agent(dir.path(), with_tier());
  EXPECT_TRUE(all_is_brought()) << agent.log();
  EXPECT_EQ(both.damages(20), "");
  EXPECT_NE(agent.log().find("brought 20 files"), std::string::npos) << agent.log();
}

TEST_F(SpoolerTest, AKilledTrainerLosesNothingThatItHadFinished) {
  for (const bool service : {true, false}) {
    SCOPED_TRACE(service ? "service" : "on demand");
    const TempDir place;
    const TwoTiers own(place.path());
    std::unique_ptr<Agent> agent;
    if (service) agent = std::make_unique<Agent>(dir.path());
    Recording recording(own, socket, FLOR_AGENT);
    ASSERT_TRUE(recording.finish(20));
    recording.kill();
    ASSERT_TRUE(eventually([&] { return !fs::exists(own.local.path); }));
    EXPECT_EQ(own.damages(recording.finished()), "");
  }
}

// Whoever is killed, and whenever: the agent that comes next goes on from what lies on disk.
TEST_F(SpoolerTest, KilledAgentsAndAKilledTrainerLoseNothing) {
  std::mt19937 random(7);
  auto agent = std::make_unique<Agent>(dir.path());
  Recording recording(both, socket, "/none/to/start");
  for (int kills = 0; kills < 12; ++kills) {
    ASSERT_TRUE(recording.finish(3));
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));
    agent->process().signal(SIGKILL);
    agent->process().wait();
    // Is told nothing: it finds the tier beside its socket.
    agent = std::make_unique<Agent>(dir.path());
  }
  recording.kill();
  EXPECT_TRUE(all_is_brought()) << agent->log();
  EXPECT_EQ(both.damages(recording.finished()), "");
}

TEST_F(SpoolerTest, AnAgentOnDemandStaysUntilAllIsBrought) {
  TwoTiers slow(dir.path() / "slow", 1'000'000);
  slow.write(10, 50000);
  Agent agent(dir.path(), {"--on-demand", "--idle-ms", "1", "--local", slow.tier.string()});
  EXPECT_EQ(agent.process().wait(), 0);
  EXPECT_FALSE(fs::exists(slow.local.path)) << agent.log();
  EXPECT_EQ(slow.damages(10), "");
}

TEST_F(SpoolerTest, ARunThatIsNoLongerInTheStoreIsSaidAndLeftAlone) {
  both.write(2);
  fs::remove_all(both.run.path);
  Agent agent(dir.path(), {"--on-demand", "--idle-ms", "300", "--local", both.tier.string()});
  EXPECT_EQ(agent.process().wait(), 0) << "it is no reason to stay";
  EXPECT_NE(agent.log().find("is left alone"), std::string::npos) << agent.log();
  EXPECT_EQ(core::waiting_files(both.local).size(), 2U);
  EXPECT_FALSE(fs::exists(both.run.path));
}

// A hello must name this user's own directory of this very run.
TEST_F(SpoolerTest, ARecordingNeverWaitsForAHungAgent) {
  both.write(1);
  const Agent agent(dir.path());
  AgentClient client(hello(), options());
  ASSERT_NE(client.spooler(), AgentClient::Spooler::none);
  const pid_t hung = Agent::listening(socket);
  ASSERT_GT(hung, 0);
  ::kill(hung, SIGSTOP);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 10000; ++i) client.spool_soon();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60)) << "each would wait seconds";
  ::kill(hung, SIGCONT);
}

TEST_F(SpoolerTest, AHelloThatNamesAnythingElseIsRefused) {
  both.write(1);
  const fs::path root = core::local_root(both.tier);
  const TwoTiers other(dir.path() / "other");
  fs::create_directory_symlink(other.local.path, root / "link");
  fs::create_directories(dir.path() / "flor-0815" / both.run.id());
  const Agent agent(dir.path());
  const auto says = [&](const fs::path& local, const fs::path& home) {
    core::AgentLink link(socket);
    EXPECT_TRUE(link.open());
    core::Json line = {{"op", "hello"}, {"protocol", 1}, {"mode", "record"}, {"run", both.run.id()}};
    line["run_dir"] = home.string();
    line["local"] = local.string();
    return link.exchange(core::json_text(line), std::chrono::steady_clock::now() + std::chrono::seconds(10))
        .value_or("");
  };
  const std::string no = R"("ok":false)";
  EXPECT_NE(says("/etc", both.run.path).find(no), std::string::npos);
  EXPECT_NE(says("relative", both.run.path).find(no), std::string::npos);
  EXPECT_NE(says(both.local.path / ".." / both.run.id(), both.run.path).find(no), std::string::npos);
  EXPECT_NE(says(root / "link", both.run.path).find(no), std::string::npos);
  EXPECT_NE(says(dir.path() / "flor-0815" / both.run.id(), both.run.path).find(no), std::string::npos);
  EXPECT_NE(says(other.local.path, both.run.path).find("in the store, not"), std::string::npos);
  if (::getuid() == 0) {
    ASSERT_EQ(::chown(other.local.path.c_str(), 65534, 65534), 0);
    EXPECT_NE(says(other.local.path, other.run.path).find("another user's"), std::string::npos);
    ASSERT_EQ(::chown(core::local_root(other.tier).c_str(), 65534, 65534), 0);
    EXPECT_NE(says(other.local.path, other.run.path).find("another user's"), std::string::npos);
  }
  EXPECT_FALSE(fs::exists(socket + ".tiers"));
  EXPECT_EQ(says(both.local.path, both.run.path), R"({"ok":true})");
  EXPECT_TRUE(all_is_brought()) << agent.log();
}

TEST_F(SpoolerTest, FilesOfAnotherUserAreNotBrought) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root to make files of another user";
  both.write(2);
  ASSERT_EQ(::chown((both.local.path / checkpoint_name(1)).c_str(), 65534, 65534), 0);
  const Agent agent(dir.path(), with_tier());
  EXPECT_TRUE(eventually([&] { return agent.log().find("no file of this user") != std::string::npos; }))
      << agent.log();
  EXPECT_TRUE(eventually([&] { return fs::exists(both.run.path / checkpoint_name(0)); }));
  EXPECT_FALSE(fs::exists(both.run.path / checkpoint_name(1)));
  EXPECT_TRUE(fs::exists(both.local.path / checkpoint_name(1)));
}

TEST_F(SpoolerTest, AtItsEndATrainerLeavesTheRestToAServiceOnly) {
  const auto recorded = core::FileLock::take(both.run.lock());
  {
    AgentClient client(hello(), options());
    EXPECT_EQ(client.spooler(), AgentClient::Spooler::none) << "and starts none";
  }
  EXPECT_FALSE(fs::exists(socket));
  {
    const Agent agent(dir.path());
    AgentClient client(hello(), options());
    EXPECT_EQ(client.spooler(), AgentClient::Spooler::service);
  }
  {
    const Agent agent(dir.path(), {"--on-demand"});
    AgentClient client(hello(), options());
    EXPECT_EQ(client.spooler(), AgentClient::Spooler::on_demand);
  }
}

// Its job may start again at once on another node, which sees the store alone.
TEST_F(SpoolerTest, ATrainerThatIsInterruptedBringsItsNewestCheckpointItself) {
  both.write(5);
  const auto busy = core::FileLock::take(both.local.lock());  // as an agent that works on other runs' files
  const auto recorded = core::FileLock::take(both.run.lock());
  const Agent agent(dir.path());
  AgentClient client(hello(), options());
  EXPECT_EQ(core::spool_rest(both.local, client, core::RecordingEnd::interrupted), "");
  EXPECT_TRUE(fs::exists(both.run.path / checkpoint_name(4)));
  EXPECT_FALSE(fs::exists(both.run.path / checkpoint_name(0))) << "the service brings the others";
}

TEST_F(SpoolerTest, ATrainerWithoutAnAgentBringsTheRestItself) {
  both.write(5);
  AgentClient client(hello(), options());
  EXPECT_EQ(core::spool_rest(both.local, client, core::RecordingEnd::usual), "");
  EXPECT_EQ(both.damages(5), "");
  EXPECT_FALSE(fs::exists(both.local.path));
  EXPECT_FALSE(fs::exists(socket));
}

TEST_F(SpoolerTest, ATrainerIsNotHeldByAnAgentThatHangs) {
  TwoTiers slow(dir.path() / "slow", 1000);
  slow.write(3, 50000);
  Agent agent(dir.path(), {"--on-demand", "--local", slow.tier.string()});
  // In the middle of a file, with the lock.
  ASSERT_TRUE(eventually([&] {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(slow.run.checkpoints() / "train", none))
      if (entry.path().filename().string().find(".tmp.") != std::string::npos) return true;
    return false;
  })) << agent.log();
  agent.process().signal(SIGSTOP);
  auto greeting = hello();
  greeting.run_dir = slow.run.path.string();
  greeting.local = slow.local.path.string();
  AgentClient client(greeting, options(0.3));
  core::LocalRun quick = slow.local;
  quick.rate = 0;
  EXPECT_EQ(core::spool_rest(quick, client, core::RecordingEnd::usual), "");
  EXPECT_EQ(slow.damages(3), "");
  agent.process().signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return !fs::exists(slow.local.path); }));
  EXPECT_EQ(slow.damages(3), "");
}

TEST_F(SpoolerTest, WhatTheStoreRefusesStaysAndIsSaid) {
  both.write(2);
  fs::create_directories(both.run.path / checkpoint_name(1) / "in-the-way");
  AgentClient client(hello(), options());
  const std::string trouble = core::spool_rest(both.local, client, core::RecordingEnd::usual);
  EXPECT_NE(trouble.find(": 1 checkpoint ("), std::string::npos) << trouble;
  EXPECT_NE(trouble.find(both.local.path.string()), std::string::npos) << trouble;
  EXPECT_EQ(trouble.find('\n'), std::string::npos) << trouble;
  EXPECT_TRUE(fs::exists(both.local.path / checkpoint_name(1)));
  fs::remove_all(both.run.path / checkpoint_name(1));
  const Agent agent(dir.path(), with_tier());
  EXPECT_TRUE(all_is_brought()) << agent.log();
  EXPECT_EQ(both.damages(2), "");
}

// A store that has room for three checkpoints, but not beside what is kept free for the program.
class SmallStore : public SpoolerTest {
 protected:
  void SetUp() override {
    if (!disk_.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs (root)";
    small.write(3, 100 << 10);
    core::write_durably(small.store / "model.pt", std::string(660 << 10, 'x'));
  }
  AgentClient::Hello small_hello() const {
    AgentClient::Hello out = hello();
    out.run_dir = small.run.path.string();
    out.local = small.local.path.string();
    return out;
  }

 private:
  TempDir place_;
  TinyDisk disk_{place_.path() / "store", "1m"};

 protected:
  TwoTiers small{place_.path()};
};

TEST_F(SmallStore, GetsAllAtTheEndOfATrainer) {
  AgentClient client(small_hello(), options());
  EXPECT_EQ(core::spool_rest(small.local, client, core::RecordingEnd::usual), "");
  EXPECT_EQ(small.damages(3), "");
}

TEST_F(SmallStore, GetsTheRestFromAnAgentOnceTheRecordingIsOver) {
  std::optional<core::FileLock> recorded = core::FileLock::take(small.run.lock());
  const Agent agent(dir.path(), {"--local", small.tier.string()});
  ASSERT_TRUE(eventually([&] { return agent.log().find("stay there for now") != std::string::npos; }))
      << agent.log();
  EXPECT_FALSE(core::waiting_files(small.local).empty());
  recorded.reset();
  EXPECT_TRUE(eventually([&] { return !fs::exists(small.local.path); })) << agent.log();
  EXPECT_EQ(small.damages(3), "");
}

}  // namespace

// Serves as a Recording's process.
int recorder_main(int argc, char** argv) {
  if (argc != 6) return 2;
  const core::RunDir run{argv[2]};
  const auto lock = core::FileLock::try_take(run.lock());
  if (!lock) return 3;
  AgentClient::Hello hello;
  hello.mode = "record";
  hello.run = run.id();
  hello.run_dir = run.path.string();
  hello.local = argv[3];
  AgentClient::Options options;
  options.socket = argv[4];
  options.agent = argv[5];
  AgentClient client(hello, options);
  client.spool_soon();
  core::Tiers tiers(run, argv[3]);
  for (int i = 0;; ++i) {
    // Each refers to the one before, wherever that is by now.
    write_checkpoint(tiers, checkpoint_name(i), checkpoint_content(i, 200000),
                     i > 0 ? checkpoint_name(i - 1) : "", checkpoint_content(i - 1, 200000));
    client.spool_soon();
    if (::write(STDOUT_FILENO, "f", 1) != 1) return 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace flor::test
