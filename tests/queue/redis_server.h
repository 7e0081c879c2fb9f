// A real redis-server on a unix socket in a directory of its own, that ends with its owner.
#pragma once

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "queue/redis.h"

namespace flor::test {

// Polls until `condition` holds; false when that takes longer than `limit`.
template <class Condition>
bool eventually(Condition condition, std::chrono::milliseconds limit = std::chrono::seconds(20)) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

class TempDir {
 public:
  TempDir() {
    std::string name = "/tmp/flor-test-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class RedisServer {
 public:
  // `extra`: more of redis-server's arguments. `password`: that they ask of the login `default`.
  explicit RedisServer(std::vector<std::string> extra = {}, std::string password = "")
      : extra_(std::move(extra)), password_(std::move(password)) {
    start();
  }
  ~RedisServer() { kill(SIGKILL); }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  std::string url() const {
    return "unix://" + (password_.empty() ? "" : "default:" + password_ + "@") + socket();
  }
  pid_t pid() const { return pid_; }

  // Listens on a free port of the loopback, too.
  int open_port() const {
    queue::Redis admin(url());
    int port = 20000 + ::getpid() % 20000;
    const bool open = eventually([&] {
      try {
        admin.command({"CONFIG", "SET", "port", std::to_string(++port)});
        return true;
      } catch (const queue::RedisRefused&) {
        return false;  // taken
      }
    });
    if (!open) throw std::runtime_error("no free port was found");
    return port;
  }

  void signal(int number) const { ::kill(pid_, number); }

  void kill(int number = SIGTERM) {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGCONT);
    ::kill(pid_, number);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  void start() {
    std::vector<std::string> words{
        "redis-server",       "--port",      "0",  "--unixsocket", socket(), "--dir",
        dir_.path().string(), "--daemonize", "no", "--save",       ""};
    words.insert(words.end(), extra_.begin(), extra_.end());
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      const int null = ::open("/dev/null", O_RDWR);
      for (int fd = 0; fd <= 2; ++fd) ::dup2(null, fd);
      ::execvp(argv[0], argv.data());
      ::_exit(127);
    }
    const bool up = eventually([this] {
      try {
        queue::Redis(url()).command({"PING"});
        return true;
      } catch (const core::Error&) {
        return false;
      }
    });
    if (!up) throw std::runtime_error("redis-server did not start; is it installed?");
  }

 private:
  std::string socket() const { return (dir_.path() / "redis.sock").string(); }

  TempDir dir_;
  std::vector<std::string> extra_;
  std::string password_;
  pid_t pid_ = -1;
};

}  // namespace flor::test
