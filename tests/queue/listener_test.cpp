// A password goes to no other user's process.
#include "queue/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <functional>

#include "queue/redis_server.h"
#include "queue/replay_dir.h"
#include "support/another_user.h"

namespace flor::test {
namespace {

// Another user's process that takes connections of a socket and keeps what it is sent.
class Stranger {
 public:
  explicit Stranger(const std::function<int()>& listening) {
    std::array<int, 2> ready{};
    if (::pipe(ready.data()) != 0 || ::pipe(heard_.data()) != 0) throw std::runtime_error("no pipe");
    child_ = ::fork();
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::setgroups(0, nullptr) != 0 || ::setgid(attacker) != 0 || ::setuid(attacker) != 0) ::_exit(1);
      const int socket = listening();
      if (socket < 0 || ::listen(socket, 8) != 0 || ::write(ready[1], "r", 1) != 1) ::_exit(1);
      for (;;) {
        const int connection = ::accept(socket, nullptr, nullptr);
        std::array<char, 4096> text{};
        const ssize_t got = ::read(connection, text.data(), text.size());
        if (got > 0 && ::write(heard_[1], text.data(), static_cast<std::size_t>(got)) < 0) ::_exit(1);
        ::close(connection);
      }
    }
    ::close(ready[1]);
    ::close(heard_[1]);
    char byte = 0;
    listens_ = ::read(ready[0], &byte, 1) == 1;
    ::close(ready[0]);
  }
  ~Stranger() {
    end();
    ::close(heard_[0]);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  bool listens() const { return listens_; }
  // All that was sent; ends the stranger, after what has arrived was read.
  std::string heard() {
    ::usleep(50000);
    end();
    std::string out;
    std::array<char, 4096> text{};
    for (ssize_t got = 0; (got = ::read(heard_[0], text.data(), text.size())) > 0;)
      out.append(text.data(), static_cast<std::size_t>(got));
    return out;
  }

 private:
  void end() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
  }

  pid_t child_ = -1;
  bool listens_ = false;
  std::array<int, 2> heard_{};
};

// A bound socket of the loopback and its port; `v6`: of all addresses, IPv6 and IPv4.
int loopback(bool v6, int* port) {
  const int socket = ::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 all{};
  all.sin6_family = AF_INET6;
  sockaddr_in one{};
  one.sin_family = AF_INET;
  one.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* address = v6 ? reinterpret_cast<sockaddr*>(&all) : reinterpret_cast<sockaddr*>(&one);
  socklen_t size = v6 ? sizeof all : sizeof one;
  if (socket < 0 || ::bind(socket, address, size) != 0 || ::getsockname(socket, address, &size) != 0)
    return -1;
  *port = ntohs(v6 ? all.sin6_port : one.sin_port);
  return socket;
}

int free_port() {
  int port = 0;
  ::close(loopback(false, &port));
  return port;
}

int listening_at(const sockaddr* address, socklen_t size) {
  const int socket = ::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  return ::bind(socket, address, size) == 0 ? socket : -1;
}

void refuses(const std::string& url) {
  try {
    queue::Redis(url, std::chrono::milliseconds(500)).command({"PING"});
    FAIL() << "an error was expected";
  } catch (const queue::RedisDown& down) {
    const std::string why = down.what();
    EXPECT_NE(why.find("the password is not sent: user 54322 listens there"), std::string::npos) << why;
    EXPECT_EQ(why.find("hunter2"), std::string::npos) << why;
  }
}

TEST(Listener, AStrangerGetsNoPassword) {
  FLOR_NEEDS_ROOT();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int port = free_port();
  address.sin_port = htons(static_cast<uint16_t>(port));
  Stranger stranger([&] { return listening_at(reinterpret_cast<sockaddr*>(&address), sizeof address); });
  ASSERT_TRUE(stranger.listens());
  refuses("redis://ada:hunter2@127.0.0.1:" + std::to_string(port));
  EXPECT_EQ(stranger.heard(), "");
}

TEST(Listener, AStrangerGetsNoPasswordOnAnyAddress) {
  FLOR_NEEDS_ROOT();
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  const int port = free_port();
  address.sin6_port = htons(static_cast<uint16_t>(port));
  Stranger stranger([&] { return listening_at(reinterpret_cast<sockaddr*>(&address), sizeof address); });
  if (!stranger.listens()) GTEST_SKIP() << "no IPv6 here";
  refuses("redis://ada:hunter2@127.0.0.1:" + std::to_string(port));
  refuses("redis://ada:hunter2@[::1]:" + std::to_string(port));
  refuses("redis://ada:hunter2@127.0.0.9:" + std::to_string(port));
  EXPECT_EQ(stranger.heard(), "");
}

TEST(Listener, AStrangerAtASocketGetsNoPassword) {
  FLOR_NEEDS_ROOT();
  const TempDir directory;
  ::chmod(directory.path().c_str(), 01777);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = (directory.path() / "redis.sock").string();
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  Stranger stranger([&] { return listening_at(reinterpret_cast<sockaddr*>(&address), sizeof address); });
  ASSERT_TRUE(stranger.listens());
  refuses("unix://ada:hunter2@" + path);
  EXPECT_EQ(stranger.heard(), "");
}

TEST(Listener, AServiceInADirectoryOfItsOwnIsTrusted) {
  FLOR_NEEDS_ROOT();
  const TempDir directory;
  ::chmod(directory.path().c_str(), 0755);
  const auto own = directory.path() / "own";
  std::filesystem::create_directory(own);
  ::chown(own.c_str(), attacker, attacker);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = (own / "redis.sock").string();
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  Stranger service([&] { return listening_at(reinterpret_cast<sockaddr*>(&address), sizeof address); });
  ASSERT_TRUE(service.listens());
  EXPECT_THROW(queue::Redis("unix://ada:hunter2@" + path).command({"PING"}), queue::RedisDown);
  EXPECT_NE(service.heard().find("hunter2"), std::string::npos);
}

TEST(Listener, ADirectoryThatAnyoneCouldHaveMadeIsNoServices) {
  FLOR_NEEDS_ROOT();
  const TempDir directory;
  ::chmod(directory.path().c_str(), 01777);  // as /tmp is
  const auto made = directory.path() / "service";
  std::filesystem::create_directory(made);
  ::chown(made.c_str(), attacker, attacker);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = (made / "redis.sock").string();
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  Stranger stranger([&] { return listening_at(reinterpret_cast<sockaddr*>(&address), sizeof address); });
  ASSERT_TRUE(stranger.listens());
  refuses("unix://ada:hunter2@" + path);
  EXPECT_EQ(stranger.heard(), "");
}

TEST(Listener, AServerOfOnesOwnIsGivenThePassword) {
  RedisServer server({"--requirepass", "hunter2"}, "hunter2");
  const std::string socket = server.url().substr(server.url().find("@") + 1);
  EXPECT_EQ(queue::Redis("unix://default:hunter2@" + socket).command({"PING"}).text, "PONG");
  EXPECT_EQ(
      queue::Redis("redis://:hunter2@127.0.0.1:" + std::to_string(server.open_port())).command({"PING"}).text,
      "PONG");
}

TEST(Listener, TrustedAreRootOneselfAndSystemAccounts) {
  EXPECT_TRUE(queue::is_trusted_owner(0, 1001, 1000));
  EXPECT_TRUE(queue::is_trusted_owner(1001, 1001, 1000));
  EXPECT_TRUE(queue::is_trusted_owner(112, 1001, 1000));
  EXPECT_FALSE(queue::is_trusted_owner(1000, 1001, 1000));
  EXPECT_FALSE(queue::is_trusted_owner(65534, 1001, 1000));
  EXPECT_FALSE(queue::is_trusted_owner(500, 1001, 500));
  EXPECT_TRUE(queue::is_trusted_owner(499, 1001, 500));
  EXPECT_TRUE(queue::is_trusted_owner(0, 1001, 0));
}

// At sites that number the accounts of people from 500 on.
TEST(Listener, WhoIsAPersonStandsInLoginDefs) {
  EXPECT_EQ(queue::first_person_in("# UID_MIN 300\nSYS_UID_MIN 100\nUID_MIN\t\t\t  500\nUID_MAX 60000\n"),
            500U);
  EXPECT_EQ(queue::first_person_in("UID_MIN 5000\n"), 1000U) << "accounts may be older than the file";
  for (const char* text : {"", "UID_MIN", "UID_MIN many\n", "UID_MIN -1\n"})
    EXPECT_EQ(queue::first_person_in(text), 1000U) << text;
}

TEST(Listener, TheKernelsTableIsRead) {
  const auto lines = queue::parse_sockets(
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
      "   0: 0100007F:18EB 00000000:0000 0A 00000000:00000000 00:00000000 00000000   107        0 1666 1 0 "
      "100\n"
      "   1: 0100007F:18EB 0100007F:8302 01 00000000:00000000 03:00000C9B 00000000  1000        0 0 3 0\n"
      "torn 12\n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[0].listens);
  EXPECT_EQ(lines[0].owner, 107U);
  EXPECT_FALSE(lines[1].listens);
  EXPECT_EQ(lines[1].remote, "0100007F:8302");
}

}  // namespace
}  // namespace flor::test
