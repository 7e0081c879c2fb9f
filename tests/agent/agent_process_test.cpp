// The agent as a process: its socket, who may talk to it, how it comes and goes.
#include <grp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>

#include "agent/fixture.h"

namespace flor::test {
namespace {

namespace fs = std::filesystem;

mode_t mode_of(const fs::path& path) {
  struct stat info = {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

int run_agent(const TempDir& dir, std::vector<std::string> words, std::string* errors = nullptr) {
  words.insert(words.begin(), FLOR_AGENT);
  Child child(words, -1, -1, dir.path() / "err");
  const int status = child.wait();
  if (errors != nullptr) *errors = core::read_file(dir.path() / "err");
  return status;
}

TEST(AgentProcess, HelpVersionAndWrongUsage) {
  const TempDir dir;
  EXPECT_EQ(run_agent(dir, {"--help"}), 0);
  EXPECT_EQ(run_agent(dir, {"--version"}), 0);
  std::string errors;
  EXPECT_EQ(run_agent(dir, {"--nonsense"}), 2);
  EXPECT_EQ(run_agent(dir, {"--redis", "http://u:hunter2@h", "--socket", dir.path() / "a/s"}, &errors), 2);
  EXPECT_NE(errors.find("Redis URL"), std::string::npos) << errors;
  EXPECT_EQ(errors.find("hunter2"), std::string::npos) << errors;
}

TEST(AgentProcess, SocketAndDirectoryArePrivate) {
  const TempDir dir;
  Agent agent(dir.path());
  EXPECT_EQ(mode_of(fs::path(agent.socket()).parent_path()), 0700U);
  EXPECT_EQ(mode_of(agent.socket()), 0600U);
}

TEST(AgentProcess, ADirectoryOpenToOthersOrALinkIsRefused) {
  const TempDir dir;
  const fs::path open = dir.path() / "open";
  fs::create_directory(open);
  fs::permissions(open, static_cast<fs::perms>(0755));
  std::string errors;
  EXPECT_EQ(run_agent(dir, {"--socket", open / "a.sock"}, &errors), 1);
  EXPECT_NE(errors.find("chmod 700"), std::string::npos) << errors;
  fs::create_directory_symlink("/tmp", dir.path() / "link");
  EXPECT_EQ(run_agent(dir, {"--socket", dir.path() / "link" / "a.sock"}), 1);
  EXPECT_EQ(run_agent(dir, {"--socket", dir.path() / "a" / std::string(120, 'x')}), 1);
}

TEST(AgentProcess, ASecondOneLeavesQuietly) {
  const TempDir dir;
  Agent agent(dir.path());
  std::string errors;
  EXPECT_EQ(run_agent(dir, {"--socket", agent.socket()}, &errors), 0);
  EXPECT_EQ(errors, "");
  EXPECT_EQ(Agent::listening(agent.socket()), agent.process().pid());
}

TEST(AgentProcess, TheSocketOfAKilledOneIsTakenOver) {
  const TempDir dir;
  {
    Agent killed(dir.path());
    killed.process().signal(SIGKILL);
    killed.process().wait();
    EXPECT_TRUE(fs::exists(killed.socket()));
  }
  Agent next(dir.path());
  EXPECT_EQ(Agent::listening(next.socket()), next.process().pid());
}

TEST(AgentProcess, SigtermEndsItAndRemovesItsSocket) {
  const TempDir dir;
  Agent agent(dir.path());
  agent.process().signal(SIGTERM);
  EXPECT_EQ(agent.process().wait(), 0);
  EXPECT_FALSE(fs::exists(agent.socket()));
}

TEST(AgentProcess, OnDemandItEndsWhenNobodyNeedsIt) {
  const TempDir dir;
  Agent agent(dir.path(), {"--on-demand", "--idle-ms", "100"});
  EXPECT_EQ(agent.process().wait(), 0);
}

TEST(AgentProcess, OnDemandItStaysWhileSomebodyIsConnected) {
  const TempDir dir;
  Agent agent(dir.path(), {"--on-demand", "--idle-ms", "300"});
  core::AgentLink link(agent.socket());
  ASSERT_TRUE(link.open());
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(700);
  EXPECT_FALSE(eventually([&] { return link.ended(); }, std::chrono::milliseconds(700)));
  EXPECT_GE(std::chrono::steady_clock::now(), soon);
  link.close();
  EXPECT_EQ(agent.process().wait(), 0);
}

// Connects as another user would who got past the modes of directory and socket; true when the agent hung up.
bool refused_as(uid_t uid, const std::string& socket) {
  const pid_t child = ::fork();
  if (child == 0) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, socket.data(), socket.size());
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::setgroups(0, nullptr) != 0 || ::setresuid(uid, uid, uid) != 0) ::_exit(3);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) ::_exit(2);
    pollfd ready{fd, POLLIN, 0};
    char byte = 0;
    ::_exit(::poll(&ready, 1, 20000) == 1 && ::recv(fd, &byte, 1, 0) <= 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(AgentProcess, AnotherUserIsRefused) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const TempDir dir;
  Agent agent(dir.path());
  constexpr uid_t nobody = 65534;
  fs::permissions(dir.path(), static_cast<fs::perms>(0711));
  fs::permissions(fs::path(agent.socket()).parent_path(), static_cast<fs::perms>(0711));
  fs::permissions(agent.socket(), static_cast<fs::perms>(0666));
  EXPECT_TRUE(refused_as(nobody, agent.socket()));
  EXPECT_TRUE(eventually(
      [&] { return agent.log().find("refused a connection of user 65534") != std::string::npos; }));
  core::AgentLink own(agent.socket());
  EXPECT_TRUE(own.open());
}

TEST(AgentProcess, AClientTalksToNobodyElsesAgent) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const TempDir dir;
  fs::permissions(dir.path(), static_cast<fs::perms>(0777));
  const std::string path = dir.path() / "s";
  const pid_t impostor = ::fork();
  if (impostor == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    if (::setresuid(65534, 65534, 65534) != 0) ::_exit(1);
    if (::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || ::listen(fd, 5) != 0)
      ::_exit(1);
    for (;;) ::pause();
  }
  ASSERT_TRUE(eventually([&] { return Agent::listening(path) > 0; }));
  core::AgentLink link(path);
  EXPECT_FALSE(link.open());
  ::kill(impostor, SIGKILL);
  ::waitpid(impostor, nullptr, 0);
}

}  // namespace
}  // namespace flor::test
