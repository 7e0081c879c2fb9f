// An agent, a Redis and a replay of three segments for one test.
#pragma once

#include <memory>
#include <string>

#include "agent/processes.h"

namespace flor::test {

class AgentTest : public QueueTest {
 protected:
  using QueueTest::QueueTest;

  // A lease of 10 s unless the test is about its end.
  void start_agent(int lease_ms = 10000) {
    agent =
        std::make_unique<Agent>(dir.path(), std::vector<std::string>{"--lease-ms", std::to_string(lease_ms)});
    socket = agent->socket();
  }
  std::unique_ptr<Worker> worker(const std::string& name) {
    return std::make_unique<Worker>(name, replay, server.url(), socket);
  }
  bool becomes(queue::Queue& queue, const std::string& id, const std::string& state) {
    return eventually([&] { return info(queue, id).state == state; });
  }
  // Of an agent that a worker started: it would go by itself, half a minute later.
  void end_on_demand_agent() const {
    const pid_t pid = Agent::listening(socket);
    if (pid > 0) ::kill(pid, SIGTERM);
  }

  TempDir dir;
  std::string socket;
  std::unique_ptr<Agent> agent;
};

}  // namespace flor::test
