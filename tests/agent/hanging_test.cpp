// What hangs, or runs out, in one place of the agent: it keeps nobody else waiting.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "agent/fixture.h"
#include "agent/idle_wait.h"

namespace flor::test {
namespace {

// The library is loaded in front of all others by the programs that are started meanwhile.
class Preloaded {
 public:
  explicit Preloaded(const char* library) {
    ::setenv("LD_PRELOAD", library, 1);
    // The address sanitizer wants to be the first library, and without that it only misses what this one
    // does.
    ::setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
  }
  Preloaded(const Preloaded&) = delete;
  Preloaded& operator=(const Preloaded&) = delete;
  ~Preloaded() {
    ::unsetenv("LD_PRELOAD");
    ::unsetenv("ASAN_OPTIONS");
  }
};

class HangingTest : public AgentTest {
 protected:
  HangingTest() {
    hung.plan.replay = "r20261121-080000-0002";
    core::create_directories_durably(hung.dir().units());
    core::write_durably(hung.dir().plan(), "{}");
    if (::mkfifo(fifo.c_str(), 0600) != 0) throw std::runtime_error("mkfifo failed");
  }

  void start_agent_that_hangs(int lease_ms = 10000) {
    const Preloaded library(HANGING_OPEN_LIBRARY);
    ::setenv("HANGING_FILE", hung.dir().plan().c_str(), 1);
    ::setenv("HANGING_FIFO", fifo.c_str(), 1);
    start_agent(lease_ms);
    ::unsetenv("HANGING_FILE");
    ::unsetenv("HANGING_FIFO");
  }

  // A worker of a replay whose plan can be seen but not read: whoever opens it waits, as on a store that
  // hangs.
  std::unique_ptr<core::AgentLink> say_hello_to_the_hung() const {
    auto link = std::make_unique<core::AgentLink>(socket);
    const core::Json hello = {{"op", "hello"},
                              {"protocol", 1},
                              {"mode", "replay"},
                              {"run_dir", hung.run().path.string()},
                              {"replay", hung.plan.replay},
                              {"worker", "stuck"},
                              {"redis", server.url()}};
    EXPECT_TRUE(link->open());
    const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    EXPECT_FALSE(link->exchange(core::json_text(hello), soon)) << "it hangs";
    return link;
  }
  // Lets who waits for the plan go on; false when nobody does.
  bool free_the_hung() const {
    const int fd = ::open(fifo.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    ::close(fd);
    return fd >= 0;
  }

  TestReplay hung{12, {{0, 12}}};
  std::string fifo = (dir.path() / "fifo").string();
};

TEST_F(HangingTest, AStoreThatHangsDelaysNoOtherReplay) {
  start_agent_that_hangs(400);
  const auto stuck = say_hello_to_the_hung();
  auto queue = open(400);
  auto steady = worker("steady");
  const auto claim = steady->claim(9);
  ASSERT_EQ(claim["kind"], "segment");
  const std::string id = claim["segment"];
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2000);
  while (std::chrono::steady_clock::now() < until) {
    ASSERT_EQ(info(queue, id).state, "running") << "for many leases";
    queue.reap();
  }
  for (int unit = 9; unit < 12; ++unit)
    EXPECT_FALSE(steady->tell("commit " + std::to_string(unit))["lost"].get<bool>());
  EXPECT_EQ(info(queue, id).state, "done");
  EXPECT_TRUE(free_the_hung()) << "it has hung until now";
}

TEST_F(HangingTest, AnAgentThatHangsEndsNevertheless) {
  start_agent_that_hangs();
  const auto stuck = say_hello_to_the_hung();
  ASSERT_EQ(worker("other")->claim()["kind"], "segment");
  agent->process().signal(SIGTERM);
  EXPECT_EQ(agent->process().wait(), 0);
}

TEST(StarvedAgent, WaitsForADescriptorWithoutAskingAllTheTime) {
  const TempDir dir;
  const auto counted = dir.path() / "counted";
  rlimit before = {};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few = {24, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  ::setenv("COUNTED_ACCEPT", counted.c_str(), 1);
  auto agent = [&] {
    const Preloaded library(COUNTED_ACCEPT_LIBRARY);
    return std::make_unique<Agent>(dir.path());
  }();
  ::setrlimit(RLIMIT_NOFILE, &before);

  const std::string hello = R"({"op":"hello","protocol":1,"mode":"record","run":"r","run_dir":"/s/r"})";
  const auto soon = [] { return std::chrono::steady_clock::now() + std::chrono::seconds(20); };
  core::AgentLink first(agent->socket());
  ASSERT_TRUE(first.open());
  ASSERT_TRUE(first.exchange(hello, soon()));
  std::vector<std::unique_ptr<core::AgentLink>> others;
  for (int k = 0; k < 30; ++k) {
    others.push_back(std::make_unique<core::AgentLink>(agent->socket()));
    others.back()->open();
  }
  const auto failed = [&] {
    return std::filesystem::exists(counted) ? std::filesystem::file_size(counted) : 0;
  };
  ASSERT_TRUE(eventually([&] { return failed() > 0; }));
  for (int k = 0; k < 200; ++k) ASSERT_TRUE(first.exchange(R"({"op":"progress","at":"epoch=1"})", soon()));
  EXPECT_LT(failed(), 60U) << "it is not asked in every round";
  const std::string log = agent->log();
  const std::string said = "no connection can be accepted";
  EXPECT_NE(log.find(said), std::string::npos) << log;
  EXPECT_EQ(log.find(said), log.rfind(said)) << "once";
  others.clear();
  core::AgentLink late(agent->socket());
  ASSERT_TRUE(late.open());
  EXPECT_TRUE(late.exchange(hello, soon())) << "who waited is served";
}

TEST(IdleWait, GrowsToAFewSecondsAndIsShortAtTheEnd) {
  agent::IdleWait wait;
  EXPECT_DOUBLE_EQ(wait.next(0, 0.5), 0.5);
  double last = 0.5;
  for (int k = 0; k < 10; ++k) {
    const double now = wait.next(1000, 0.5);
    EXPECT_GE(now, last);
    last = now;
  }
  EXPECT_DOUBLE_EQ(last, 5);
  EXPECT_DOUBLE_EQ(wait.next(8, 0.5), 2) << "a quarter of what is left";
  EXPECT_DOUBLE_EQ(wait.next(0.1, 0.5), 0.5);
  EXPECT_DOUBLE_EQ(wait.next(0, 0), 3.75);
  EXPECT_LT(wait.next(0, 0.999), 6.25);
  wait.reset();
  EXPECT_DOUBLE_EQ(wait.next(0, 0.5), 0.5);
}

}  // namespace
}  // namespace flor::test
