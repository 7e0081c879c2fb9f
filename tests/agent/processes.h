// Real processes for the tests of the agent: the agent itself and workers that obey, over pipes.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/agent/link.h"
#include "core/base/json.h"
#include "queue/redis_server.h"
#include "queue/replay_dir.h"

namespace flor::test {

// A child that ends with its owner (SIGKILL) or with this process.
class Child {
 public:
  // `input`, `output`: descriptors that become its stdin and stdout, -1 for /dev/null; `errors`: a file.
  Child(const std::vector<std::string>& words, int input, int output, const std::filesystem::path& errors);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  // Waits for its end: the exit status, or 128 + the signal.
  int wait();

 private:
  pid_t pid_ = -1;
};

// flor-agent on a socket in a private directory.
class Agent {
 public:
  explicit Agent(const std::filesystem::path& directory, std::vector<std::string> extra = {});

  const std::string& socket() const { return socket_; }
  Child& process() { return *child_; }
  std::string log() const;
  // The pid of whoever listens on the socket now; 0: nobody.
  static pid_t listening(const std::string& socket);

 private:
  std::string socket_;
  std::filesystem::path log_;
  std::unique_ptr<Child> child_;
};

// A process with an AgentClient that does what it is told (worker_main.cpp).
class Worker {
 public:
  Worker(const std::string& name, const TestReplay& replay, const std::string& redis,
         const std::string& socket);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // claim FROM | commit UNIT | lease | release [ERROR] | fork | quit. The answer as JSON.
  core::Json tell(const std::string& command);
  // Claims until it has a segment (or nothing is left); the answer.
  core::Json claim(int64_t from = -1);
  Child& process() { return *child_; }

 private:
  std::string read_line();

  int to_ = -1, from_ = -1;
  std::string buffer_;
  TempDir dir_;
  std::unique_ptr<Child> child_;
};

// Serves as a Worker's process when the arguments say so.
int worker_main(int argc, char** argv);
// Serves as the process of a recording with a local tier (spooler_test.cpp).
int recorder_main(int argc, char** argv);

}  // namespace flor::test
