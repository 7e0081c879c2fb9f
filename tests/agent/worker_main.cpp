// The program of agent_test: the tests, and the worker processes that they order about.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>

#include "agent/processes.h"
#include "core/agent/client.h"

namespace flor::test {
namespace {

core::Json lease_json(const core::AgentClient::LeaseStatus& status) {
  return {{"lost", status.lost}, {"hi", status.hi}};
}

core::Json claim_json(core::AgentClient& client, int64_t from) {
  const auto claim = client.claim(from);
  static const char* const kinds[] = {"segment", "wait", "done", "behind"};
  return {{"kind", kinds[static_cast<int>(claim.kind)]},
          {"segment", claim.segment},
          {"fence", claim.fence},
          {"lo", claim.lo},
          {"hi", claim.hi},
          {"cur", claim.cur},
          {"why", claim.why}};
}

// A child as a data loader leaves it: a copy of every descriptor, and still there when the worker is not.
core::Json leave_child() {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  return {{"pid", static_cast<int64_t>(child)}};
}

core::Json obey(core::AgentClient& client, const core::ReplayDir& replay, const std::string& line) {
  const auto space = line.find(' ');
  const std::string word = line.substr(0, space);
  const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
  if (word == "claim") return claim_json(client, std::stoll(rest));
  if (word == "lease") return lease_json(client.lease());
  if (word == "fork") return leave_child();
  if (word == "commit") {
    const int64_t unit = std::stoll(rest);
    client.running(unit);
    core::publish_once(replay.unit(unit), "{}\n");
    return lease_json(client.commit(unit, unit_digest, 3, 0.25));
  }
  if (word == "release") client.release(rest);
  return {{"ok", true}};
}

}  // namespace

int worker_main(int argc, char** argv) {
  if (argc != 7) return 2;
  core::AgentClient::Hello hello;
  hello.mode = "replay";
  hello.worker = argv[2];
  hello.run_dir = argv[3];
  hello.replay = argv[4];
  hello.redis = argv[5];
  core::AgentClient::Options options;
  options.socket = argv[6];
  options.agent = FLOR_AGENT;
  options.patience_s = 5;
  core::AgentClient client(hello, options);
  const auto replay = core::RunDir{hello.run_dir}.replay(hello.replay);
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    try {
      std::cout << core::json_text(obey(client, replay, line)) << std::endl;
    } catch (const std::exception& problem) {
      std::cout << core::json_text({{"kind", "error"}, {"error", problem.what()}}) << std::endl;
    }
  }
  return 0;
}

}  // namespace flor::test

int main(int argc, char** argv) {
  // Nothing of the user's own set-up reaches the tests.
  for (const char* name : {"FLOR_REDIS", "FLOR_STORE", "FLOR_LOCAL", "FLOR_SPOOL_RATE", "FLOR_AGENT_SOCKET",
                           "FLOR_BIN", "SLURMD_NODENAME"})
    ::unsetenv(name);
  ::setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
  if (argc > 1 && std::string(argv[1]) == "worker") return flor::test::worker_main(argc, argv);
  if (argc > 1 && std::string(argv[1]) == "recorder") return flor::test::recorder_main(argc, argv);
  ::signal(SIGPIPE, SIG_IGN);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
