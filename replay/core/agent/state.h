// The parts of AgentClient, shared by client.cpp and exchange.cpp only.
#pragma once

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "core/agent/client.h"
#include "core/agent/link.h"
#include "core/base/json.h"
#include "core/config/redis_setting.h"
#include "core/config/settings.h"

namespace flor::core {

// `mutex` guards the known state. The thread that talks to the agent holds the turn (`busy`), never the
// mutex, so reading the known state never waits for the agent.
struct AgentClient::State {
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;
  static Time in(double seconds) {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  // The minimum time in seconds between two messages of a recording.
  static constexpr double news_pause_s = 0.1;

  struct DoneUnit {
    int64_t unit = 0;
    std::string digest;
    int64_t bytes = 0;
    double seconds = 0;
  };
  struct Held {
    std::string segment, fence;
  };

  State(Hello h, Options o) : hello(std::move(h)), options(std::move(o)), link(socket_of(options)) {
    if (hello.mode != "record" && hello.redis.empty()) hello.redis = redis_url(Settings::load()).value_or("");
  }
  static std::string socket_of(const Options& options) {
    return options.socket.empty() ? agent_socket_path() : options.socket;
  }

  // Is this a forked child? It has no thread, and the socket belongs to its parent.
  bool foreign() const { return ::getpid() != pid; }
  Time patience() const { return in(options.patience_s); }

  // Holds the turn to talk to the agent for its lifetime. False if the turn did not come in time.
  class Turn {
   public:
    Turn(State& state, Time until);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    explicit operator bool() const { return mine_; }

   private:
    State& state_;
    bool mine_ = false;
  };

  // Call these only with the turn (exchange.cpp).
  bool connect(Time until, bool may_start = true);
  bool start();
  bool greet(Time until);
  Json greeting();
  std::optional<Json> ask(const Json& request, Time until);
  // Sends the commits that have no answer yet, in order. Returns false if some are left.
  bool flush(Time until);
  // Applies an answer about the held segment.
  void absorb(const Json& answer, int64_t next);
  void hand_back(const std::string& error, Time until);
  // Reports the running unit.
  void progress(Time until);
  // Sends the request of a recording, or drops it after a failure.
  void tell_news(Time until);
  // Says what is wrong with the agent.
  std::string problem() const;
  [[noreturn]] void give_up() const;

  // The background thread (client.cpp).
  void start_thread();
  // Has the thread ask for a copy.
  void post_spool();
  void work() noexcept;
  void one_beat();

  Hello hello;
  Options options;
  const pid_t pid = ::getpid();
  AgentLink link;

  mutable std::mutex mutex;
  std::condition_variable changed;
  bool busy = false, stop = false;
  std::optional<Held> held;
  LeaseStatus known;
  int64_t unit = 0;
  double beat = 1;
  std::deque<DoneUnit> unsent;
  // A recording wants its local tier copied, and the agent has not been told.
  bool has_news = false;
  std::thread thread;

  // For the thread that holds the turn only.
  std::optional<Time> out_of_reach_since;
  // Why there is no agent, or what it refused.
  std::string trouble;
  // An agent answered and refused.
  bool refused = false;
  Time start_at, news_at;
  // Record mode: when an agent that does not answer counts as gone.
  std::optional<Time> gone_at;
};

}  // namespace flor::core
