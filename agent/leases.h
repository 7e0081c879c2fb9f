// The leases that this agent's workers hold, and the thread that renews them over its own connection to
// Redis.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/store.h"
#include "queue/queue.h"

namespace flor::agent {

// Which queue: a replay, and the Redis that coordinates it.
struct Place {
  std::string redis;
  core::ReplayDir replay;
  std::string key() const { return redis + " " + replay.path.string(); }
};

// Thread-safe. With a lease of 10 s it is renewed every 3 s, and only for a session heard from within the
// last 4 s: a frozen worker loses its segment although its agent lives.
class Leases {
 public:
  explicit Leases(queue::QueueOptions options);
  ~Leases();
  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;

  // While a place is watched, leases that ran out are reaped there.
  void watch(const Place& place);
  void unwatch(const Place& place);

  void hold(uint64_t session, const Place& place, const std::string& worker, const queue::Segment& segment);
  void drop(uint64_t session);

  // The session's worker gave a sign of life.
  void heard(uint64_t session);
  // What is known of the session's lease; nothing when it holds none. Never waits for Redis.
  std::optional<queue::Standing> standing(uint64_t session);
  // What a commit or renewal with this token found.
  void update(uint64_t session, const std::string& fence, const queue::Standing& standing);

 private:
  struct Entry {
    Place place;
    std::string worker;
    queue::Segment segment;
    queue::Standing standing;
    std::chrono::steady_clock::time_point heard;
  };
  struct Watched {
    Place place;
    int sessions = 0;
    bool down = false;                  // said already
    std::optional<queue::Queue> queue;  // used by the thread alone
  };
  using Round = std::vector<std::pair<uint64_t, Entry>>;

  void work() noexcept;
  void round();
  Round due(const std::string& key);
  void renew_and_reap(Watched& watched, const Round& round);

  const queue::QueueOptions options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::map<uint64_t, Entry> entries_;
  std::map<std::string, Watched> watched_;
  std::thread thread_;
};

}  // namespace flor::agent
