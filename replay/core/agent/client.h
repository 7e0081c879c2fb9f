// Speaks the agent protocol for a training process that records or replays (docs/formats.md, "Agent
// protocol").
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace flor::core {

// Connects when first used, and again after the agent died. Starts an agent where none runs. A recording
// needs one only for a local tier: without that it connects to none. A lease survives the change of agent.
// Thread-safe. Never raises SIGPIPE. No exception leaves its thread or destructor. Does nothing in a forked
// child.
class AgentClient {
 public:
  // What the process tells the agent when it connects.
  struct Hello {
    // "replay" or "record".
    std::string mode;
    // Absolute path: STORE/RUN.
    std::string run_dir;
    // Record mode: the id of the run.
    std::string run;
    // Replay mode: the id of the replay.
    std::string replay;
    // Replay mode: the id of this process, unique within the replay.
    std::string worker;
    // Record mode: the run's directory in the local tier. Empty: no local tier.
    std::string local;
    // Replay mode: URL. Empty: the one of the settings, else the one that the agent is configured with.
    std::string redis;
    std::string gpu;
  };
  // Set by tests. The defaults are right for a training process.
  struct Options {
    // Empty: agent_socket_path().
    std::string socket;
    // The program to start. Empty: find_tool("flor-agent").
    std::string agent;
    // claim() throws after this many seconds without an agent, and a recording counts it as gone.
    double give_up_s = 30;
    // Seconds to wait for one answer. After that the agent counts as dead.
    double patience_s = 10;
    // Record mode: called on another thread where an agent refuses to copy the files, as one that does not
    // see the local tier, or cannot be reached for give_up_s. `why`: what it said. May be called again.
    std::function<void(const std::string& why)> on_refusal{};
  };

  explicit AgentClient(Hello hello);
  AgentClient(Hello hello, Options options);
  // Releases the segment that is still held.
  ~AgentClient();
  AgentClient(const AgentClient&) = delete;
  AgentClient& operator=(const AgentClient&) = delete;

  // `done`: no unit is left. `behind`: only units before `from` are left. `late`: no unit that is left fits
  // into the time that is left.
  enum class Kind { segment, wait, done, behind, late };
  struct Claim {
    Kind kind = Kind::wait;
    std::string segment, fence;
    // Units. `cur` is the first one to execute.
    int64_t lo = 0, hi = 0, cur = 0;
    // Seconds after which to ask again.
    double wait = 0;
    // For `wait`: what cannot be reached. Empty if other workers hold all the work.
    std::string why;
  };
  // Claims a segment whose next unit is `from` or later (-1: any). First releases a segment that is still
  // held. `left` is the number of seconds until this process is ended.
  //
  // Returns `wait` also while the agent or Redis cannot be reached. Throws Error if the agent cannot be
  // reached for give_up_s, or if it refuses the request; never because Redis is away.
  //
  // From then on a thread tells the agent that this process lives, until the segment is committed, lost or
  // released.
  Claim claim(int64_t from, std::optional<int64_t> left = {});

  struct LeaseStatus {
    // Another worker has the segment now: drop the unit and claim again.
    bool lost = false;
    // Present end of the segment. Units from here on belong to another worker.
    int64_t hi = 0;
  };
  // Returns what the agent last answered. Never blocks.
  LeaseStatus lease() const;

  // Reports the unit that is being executed.
  void running(int64_t unit);

  // Reports that the file of the unit is published. Waits at most patience_s for the answer. Without an
  // answer, keeps the commit for the next agent, and returns the last known status.
  LeaseStatus commit(int64_t unit, const std::string& digest, int64_t bytes, double seconds);

  // Hands the held segment back. With an error this counts as a failed try.
  void release(const std::string& error = "");

  // Record mode with a local tier: asks an agent to copy the files to the store. Starts one where none runs.
  // Never blocks; drops the request if the agent is slow or absent. Without a local tier does nothing.
  void spool_soon();

  enum class Spooler { none, on_demand, service };
  // Returns which process copies the local tier to the store: none, because no agent answers; an agent that
  // may end with the job; or a service of the node. Starts no agent. Waits at most patience_s.
  Spooler spooler();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flor::core
