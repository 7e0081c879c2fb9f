#include "dispatch/private_redis.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "core/base/error.h"
#include "core/files/durable.h"
#include "dispatch/process.h"
#include "queue/redis.h"

namespace flor::dispatch {
namespace {

// In bytes. sun_path holds 108, and Redis refuses longer paths.
constexpr std::size_t kLongestSocket = 100;
constexpr auto kStartWithin = std::chrono::seconds(10);

fs::path make_private_directory() {
  std::string name = (fs::temp_directory_path() / "flor-redis-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "cannot create " + name);
  }
  return name;
}

void remove_leftovers(const fs::path& directory) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    if (entry.path().filename().string().rfind("redis-", 0) == 0) fs::remove(entry.path(), ignored);
  }
}

bool answers(const fs::path& socket) {
  try {
    queue::Redis redis("unix://" + socket.string(), std::chrono::seconds(1));
    return redis.command({"PING"}).text == "PONG";
  } catch (const core::Error&) {
    return false;
  }
}

}  // namespace

PrivateRedis::PrivateRedis(const fs::path& beside) {
  if (!has_program("redis-server")) {
    throw core::UsageError(
        "redis-server is not installed, and no Redis is configured: install it, or set FLOR_REDIS or `redis` "
        "in "
        "flor.conf");
  }
  core::create_directories_durably(beside);
  remove_leftovers(beside);
  const std::string name = "redis-" + std::to_string(::getpid());
  socket_ = beside / (name + ".sock");
  log_ = beside / (name + ".log");
  if (socket_.string().size() <= kLongestSocket && start()) return;
  stop();
  // The path is too long, or the file system has no sockets.
  directory_ = make_private_directory();
  socket_ = directory_ / "redis.sock";
  if (start()) return;
  const std::string tail = tail_of(log_, 1);
  stop();
  fs::remove_all(directory_);
  throw core::Error("the private redis-server does not start: " +
                    (tail.empty() ? "see " + log_.string() : tail));
}

PrivateRedis::~PrivateRedis() {
  stop();
  std::error_code ignored;
  fs::remove(log_, ignored);
  if (!directory_.empty()) fs::remove_all(directory_, ignored);
}

bool PrivateRedis::start() {
  Spawn server;
  server.command = {"redis-server",
                    "--port",
                    "0",
                    "--unixsocket",
                    socket_.string(),
                    "--unixsocketperm",
                    "600",
                    "--save",
                    "",
                    "--appendonly",
                    "no",
                    "--maxmemory-policy",
                    "noeviction",
                    "--daemonize",
                    "no",
                    "--dir",
                    socket_.parent_path().string()};
  server.environment = present_environment();
  server.output = log_;
  server.group = 0;  // a Ctrl-C on the terminal must not end the server before this process
  server.die_with_us = true;
  server.closed_to_others = true;  // protects the socket before the server's chmod(), too
  pid_ = spawn(server);
  const auto deadline = std::chrono::steady_clock::now() + kStartWithin;
  while (std::chrono::steady_clock::now() < deadline) {
    if (answers(socket_)) return true;
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

void PrivateRedis::stop() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);  // loses nothing: all that matters is in files
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }
  std::error_code ignored;
  fs::remove(socket_, ignored);
}

}  // namespace flor::dispatch
