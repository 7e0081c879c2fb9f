// The training process's side of the agent protocol (docs/formats.md, "Agent protocol").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace flor::core {

// Thread-safe. Connects lazily and again when the agent died, starting one where none runs; a lease goes on
// through the new agent. Never raises SIGPIPE, lets no exception out of its thread or destructor, and does
// nothing in a forked child.
class AgentClient {
 public:
  struct Hello {
    std::string mode;     // "replay" or "record"
    std::string run_dir;  // absolute: STORE/RUN
    std::string run;      // record: the run's id
    std::string replay;   // replay: the replay's id
    std::string worker;   // replay: this process's id, unique in the replay
    std::string local;    // record: the run's directory in the local tier; empty: none is used
    std::string redis;    // URL; empty: what the agent itself is configured with
    std::string gpu;
  };
  // Seams for tests; the defaults are what a training process wants.
  struct Options {
    std::string socket;      // empty: agent_socket_path()
    std::string agent;       // the program to start; empty: find_tool("flor-agent")
    double give_up_s = 30;   // claim throws when no agent could be had for so long
    double patience_s = 10;  // for one answer; then the agent counts as dead
  };

  explicit AgentClient(Hello hello);
  AgentClient(Hello hello, Options options);
  // Releases a segment that is still held.
  ~AgentClient();
  AgentClient(const AgentClient&) = delete;
  AgentClient& operator=(const AgentClient&) = delete;

  enum class Kind { segment, wait, done, behind, late };
  struct Claim {
    Kind kind = Kind::wait;
    std::string segment, fence;
    int64_t lo = 0, hi = 0, cur = 0;  // units; cur is the first to execute
    double wait = 0;                  // seconds after which to ask again
    std::string why;  // of a wait: what is out of reach; empty when others merely hold all work
  };
  // A segment whose next unit is `from` or later (-1: any). `wait` also while agent or Redis cannot be
  // reached; throws Error when that lasted give_up_s, or when the agent refuses what it is asked. A segment
  // that is still held is released first. From now until the commit of its last unit, its loss or its
  // release, a thread tells the agent that this process lives. `left`: seconds until this process is ended;
  // `late`: nothing that is left can be done by then.
  Claim claim(int64_t from, std::optional<int64_t> left = {});

  struct LeaseStatus {
    bool lost = false;  // the held segment is another's now: drop what is being executed, claim anew
    int64_t hi = 0;     // its present end; units from here on are another's
  };
  // What the last answer said. Never blocks on the agent.
  LeaseStatus lease() const;

  // The unit that is executed now.
  void running(int64_t unit);

  // The unit's file is published. Waits for the agent's answer at most patience_s; without one the commit is
  // kept and sent again to the next agent, and the last known status is returned.
  LeaseStatus commit(int64_t unit, const std::string& digest, int64_t bytes, double seconds);

  // Hands back what is held; with an error it counts as a failed try.
  void release(const std::string& error = "");

  // Record mode: where training is (`at`, a scope path), of how many iterations (-1: unknown), seconds of the
  // last. Never blocks: dropped when the agent is slow or absent.
  void progress_record(const std::string& at, int64_t of, double seconds);

  // Record mode with a local tier: has an agent, which is started where none runs, bring its files to the
  // store. Never blocks.
  void spool_soon();

  enum class Spooler { none, on_demand, service };
  // Who brings the files of the local tier to the store: an agent that may end with the job, or the service
  // of the node. Starts no agent; waits for its answer at most patience_s.
  Spooler spooler();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flor::core
