// What AgentClient is made of: internal to agent_client.cpp and agent_exchange.cpp.
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

// `mutex` guards what is known. Who talks to the agent has the turn (`busy`), never the mutex, so that
// reading what is known waits for nobody.
struct AgentClient::State {
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;
  static Time in(double seconds) {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  // A recording speaks so many seconds apart at least.
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
    if (hello.redis.empty()) hello.redis = redis_url(Settings::load()).value_or("");
  }
  static std::string socket_of(const Options& options) {
    return options.socket.empty() ? agent_socket_path() : options.socket;
  }

  // In a forked child: no thread is there, and the socket is its parent's.
  bool foreign() const { return ::getpid() != pid; }
  Time patience() const { return in(options.patience_s); }

  // The turn to talk to the agent; false when it did not come in time.
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

  // With the turn (agent_exchange.cpp):
  bool connect(Time until, bool may_start = true);
  bool start();
  bool greet(Time until);
  Json greeting();
  std::optional<Json> ask(const Json& request, Time until);
  // Sends the commits that got no answer yet, in order. False when some are left.
  bool flush(Time until);
  void absorb(const Json& answer, int64_t next);
  void hand_back(const std::string& error, Time until);
  void progress(Time until);
  void tell_news(Time until);
  [[noreturn]] void give_up() const;

  // The thread (agent_client.cpp):
  void start_thread();
  void post(Json line);  // for the thread to tell
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
  std::deque<Json> news;
  std::thread thread;

  // Of whoever has the turn:
  std::optional<Time> out_of_reach_since;
  std::string trouble;   // why there is no agent, or what it refused
  bool refused = false;  // by an agent that answered
  Time start_at, news_at;
};

}  // namespace flor::core
