// The agent as a process: its socket, who may talk to it, how it comes and goes.
#include <grp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>

#include "agent/fixture.h"
#include "core/config/settings.h"

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

TEST(AgentProcess, ASecondOneOnDemandLeavesQuietly) {
  const TempDir dir;
  Agent agent(dir.path());
  std::string errors;
  EXPECT_EQ(run_agent(dir, {"--on-demand", "--socket", agent.socket()}, &errors), 0);
  EXPECT_EQ(errors, "");
  EXPECT_EQ(Agent::listening(agent.socket()), agent.process().pid());
}

bool says_that_it_waits(const fs::path& log) {
  return fs::exists(log) && core::read_file(log).find("waits") != std::string::npos;
}

TEST(AgentProcess, AServiceTakesOverFromOneThatWasStartedOnDemand) {
  const TempDir dir;
  Agent on_demand(dir.path(), {"--on-demand"});
  Child service({FLOR_AGENT, "--socket", on_demand.socket()}, -1, -1, dir.path() / "service");
  ASSERT_TRUE(eventually([&] { return says_that_it_waits(dir.path() / "service"); }));
  EXPECT_EQ(Agent::listening(on_demand.socket()), on_demand.process().pid());
  on_demand.process().signal(SIGTERM);
  on_demand.process().wait();
  EXPECT_TRUE(eventually([&] { return Agent::listening(on_demand.socket()) == service.pid(); }));
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait(), 0);
}

TEST(AgentProcess, AServiceThatWaitsEndsAtSigterm) {
  const TempDir dir;
  Agent agent(dir.path());
  Child service({FLOR_AGENT, "--socket", agent.socket()}, -1, -1, dir.path() / "service");
  ASSERT_TRUE(eventually([&] { return says_that_it_waits(dir.path() / "service"); }));
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait(), 0);
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

// What a process of this uid, without a session, takes for its agent's socket.
std::string socket_of(uid_t uid) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::unsetenv("XDG_RUNTIME_DIR");
    ::unsetenv("FLOR_AGENT_SOCKET");
    if (::setgroups(0, nullptr) != 0 || ::setresuid(uid, uid, uid) != 0) ::_exit(1);
    const std::string path = core::agent_socket_path();
    [[maybe_unused]] const ssize_t told = ::write(ends[1], path.data(), path.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string path(4096, '\0');
  const ssize_t size = ::read(ends[0], path.data(), path.size());
  path.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return path;
}

TEST(AgentProcess, AnotherUsersDirectoryInTmpKeepsNobodyFromTheirAgent) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root to become other users";
  // A user id that nobody has.
  const uid_t uid = 3000000 + static_cast<uid_t>(::getpid()) % 1000000;
  const fs::path wanted = "/tmp/flor-" + std::to_string(uid);
  const fs::path planted = wanted.string() + ".000000";
  for (const auto& path : {wanted, planted}) {
    ASSERT_TRUE(fs::create_directory(path));
    ASSERT_EQ(::chown(path.c_str(), uid + 1, uid + 1), 0);
  }
  const fs::path socket = socket_of(uid);
  EXPECT_EQ(socket.string().rfind(wanted.string() + ".", 0), 0U) << socket;
  EXPECT_NE(socket.parent_path(), planted);
  EXPECT_EQ(mode_of(socket.parent_path()), 0700U);
  EXPECT_EQ(socket_of(uid), socket) << "whoever asks later finds the same one";
  for (const auto& path : {wanted, planted, socket.parent_path()}) fs::remove_all(path);
  // Once it has the name, nobody else can take it.
  EXPECT_EQ(fs::path(socket_of(uid)).parent_path(), wanted);
  ASSERT_TRUE(fs::remove(wanted));
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
