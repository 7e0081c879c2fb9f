// AgentClient in this process: what it promises to the program it lives in.
#include "core/agent/client.h"

#include <csignal>
#include <future>
#include <mutex>

#include "agent/fixture.h"
#include "core/base/error.h"

namespace flor::test {
namespace {

using core::AgentClient;

class ClientTest : public AgentTest {
 protected:
  ~ClientTest() override { end_on_demand_agent(); }

  AgentClient::Hello hello(const std::string& mode) {
    AgentClient::Hello out;
    out.mode = mode;
    out.run_dir = replay.run().path.string();
    out.run = replay.run().id();
    out.replay = replay.dir().id();
    out.worker = "w1";
    out.redis = server.url();
    return out;
  }
  AgentClient::Options options() {
    AgentClient::Options out;
    out.socket = (dir.path() / "agent" / "a.sock").string();
    out.agent = FLOR_AGENT;
    socket = out.socket;
    return out;
  }
};

TEST_F(ClientTest, WithoutAnyAgentClaimWaitsThenSaysWhatToDo) {
  auto how = options();
  how.agent = (dir.path() / "no-such-agent").string();
  how.give_up_s = 0.3;
  AgentClient client(hello("replay"), how);
  EXPECT_EQ(client.claim(-1).kind, AgentClient::Kind::wait);
  std::string error;
  EXPECT_TRUE(eventually([&] {
    try {
      client.claim(-1);
      return false;
    } catch (const core::Error& problem) {
      error = problem.what();
      return true;
    }
  }));
  EXPECT_NE(error.find(how.socket), std::string::npos) << error;
  EXPECT_NE(error.find("no-such-agent"), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos);
}

// The agent refused the place before it had a log, and the error named that log.
TEST_F(ClientTest, WhereNoAgentMayServeTheErrorSaysWhy) {
  const struct {
    std::string directory, said;
  } table[] = {{"agent", "is open to other users; chmod 700 it"},
               {std::string(120, 'd'), "is longer than 107 bytes"}};
  for (const auto& row : table) {
    auto how = options();
    const core::fs::path place = dir.path() / row.directory;
    core::fs::create_directory(place);
    core::fs::permissions(place, core::fs::perms(0755));
    how.socket = (place / "a.sock").string();
    how.give_up_s = 0;
    AgentClient client(hello("replay"), how);
    std::string error;
    try {
      client.claim(-1);
    } catch (const core::Error& problem) {
      error = problem.what();
    }
    EXPECT_NE(error.find(row.said), std::string::npos) << error;
    EXPECT_EQ(error.find(".log"), std::string::npos) << error;
  }
}

// As in a container without flor-agent: else the files would stay on the node.
TEST_F(ClientTest, ARecordingIsToldOfAnAgentThatCannotBeReached) {
  auto how = options();
  how.agent = "/no-such-agent";
  how.give_up_s = 0;
  std::promise<std::string> said;
  std::once_flag once;
  how.on_refusal = [&](const std::string& why) { std::call_once(once, [&] { said.set_value(why); }); };
  auto recorded = hello("record");
  recorded.local = dir.path().string();
  AgentClient client(recorded, how);
  client.spool_soon();
  EXPECT_NE(said.get_future().get().find("cannot be reached"), std::string::npos);
}

TEST_F(ClientTest, ARefusalIsAnErrorAtOnce) {
  auto wrong = hello("replay");
  wrong.replay = "r-unknown";
  AgentClient client(wrong, options());
  try {
    client.claim(-1);
    FAIL() << "no error";
  } catch (const core::Error& problem) {
    EXPECT_NE(std::string(problem.what()).find("r-unknown/plan.json"), std::string::npos) << problem.what();
  }
}

TEST_F(ClientTest, StartingAnAgentLeavesNoChild) {
  AgentClient client(hello("replay"), options());
  EXPECT_EQ(client.claim(-1).kind, AgentClient::Kind::segment);
  const pid_t agent_pid = Agent::listening(socket);
  ASSERT_GT(agent_pid, 0);
  EXPECT_NE(::getsid(agent_pid), ::getsid(0)) << "a session of its own";
  const std::string proc = "/proc/" + std::to_string(agent_pid);
  EXPECT_EQ(core::fs::read_symlink(proc + "/fd/0"), "/dev/null");
  EXPECT_EQ(core::fs::read_symlink(proc + "/fd/1"), "/dev/null");
  EXPECT_EQ(core::fs::read_symlink(proc + "/cwd"), "/");
  // The only child left is this test's redis-server, and it runs.
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), 0);
}

TEST_F(ClientTest, StandingNeverWaitsForAHungAgent) {
  start_agent(1000);
  auto how = options();
  how.patience_s = 1;
  AgentClient client(hello("replay"), how);
  ASSERT_EQ(client.claim(-1).kind, AgentClient::Kind::segment);
  agent->process().signal(SIGSTOP);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) {
    client.lease();
    client.running(0);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60)) << "each would wait a second";
  replay.publish(0);
  EXPECT_FALSE(client.commit(0, unit_digest, 3, 0.1).lost) << "kept, and told later";
  agent->process().signal(SIGCONT);
  auto queue = open();
  EXPECT_TRUE(eventually([&] { return queue.status().done == 1 || client.lease().lost; }));
}

TEST_F(ClientTest, AForkedChildDoesNothing) {
  start_agent();
  auto queue = open();
  AgentClient client(hello("replay"), options());
  const auto held = client.claim(-1);
  const pid_t child = ::fork();
  if (child == 0) {
    auto* copy = &client;
    const bool idle = copy->claim(-1).kind == AgentClient::Kind::done && !copy->commit(0, "", 0, 0).lost;
    copy->release("no");
    copy->spool_soon();
    copy->~AgentClient();
    ::_exit(idle ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(info(queue, held.segment).state, "running");
  client.release();
  EXPECT_EQ(info(queue, held.segment).state, "ready");
}

// How many threads of this process hold SIGUSR1 back (a sanitizer may have one of its own).
int threads_that_block_sigusr1() {
  int blocked = 0;
  for (const auto& task : core::fs::directory_iterator("/proc/self/task")) {
    const std::string text = core::read_file(task.path() / "status");
    const auto at = text.find("SigBlk:\t");
    const auto mask = std::stoull(text.substr(at + 8, 16), nullptr, 16);
    if ((mask >> (SIGUSR1 - 1) & 1U) != 0) ++blocked;
  }
  return blocked;
}

TEST_F(ClientTest, TheThreadTakesNoSignalOfTheProgram) {
  start_agent();
  AgentClient client(hello("replay"), options());
  const int before = threads_that_block_sigusr1();
  client.claim(-1);
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(::sigismember(&mask, SIGUSR1), 0) << "the caller's mask is as it was";
  EXPECT_EQ(threads_that_block_sigusr1(), before + 1);
}

// Not for a Redis either: an agent held a connection and left a stream there for each recording.
TEST_F(ClientTest, ARecordingWithoutALocalTierStartsNothing) {
  {
    AgentClient client(hello("record"), options());
    for (int i = 0; i < 1000; ++i) client.spool_soon();
  }
  EXPECT_FALSE(core::fs::exists(core::fs::path(socket).parent_path()));
}

}  // namespace
}  // namespace flor::test
