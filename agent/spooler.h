// Brings checkpoints from the node's local tiers to the store, on a thread of its own, at low priority.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "core/base/rate_limiter.h"
#include "core/store/local_tier.h"

namespace flor::agent {

// Thread-safe. What there is to do is told by the tiers that are known: one by the configuration, others by
// the recordings that connect, which are kept in a file for the agent that follows.
class Spooler {
 public:
  struct Options {
    core::fs::path known;  // the file that keeps the tiers, one a line
    core::fs::path tier;   // empty: none is configured
    bool service = false;  // lives on when nobody is connected
  };

  explicit Spooler(Options options);
  ~Spooler();  // breaks off what is being copied: nothing is lost by that
  Spooler(const Spooler&) = delete;
  Spooler& operator=(const Spooler&) = delete;

  // A recording that uses this directory of the local tier is connected; `home`: its run's directory in the
  // store. Throws core::Error unless all of it is this user's own (core::open_local_run).
  void watch(const core::fs::path& local, const core::fs::path& home);
  void unwatch();
  void wake();

  // Does anything wait that can be brought to the store?
  bool busy() const;
  bool is_service() const { return options_.service; }

 private:
  void work() noexcept;
  void round();
  void look_at(const core::fs::path& directory);
  void bring(const core::LocalRun& local);
  bool pace(std::uint64_t bytes, std::uint64_t rate);
  void say_once(const core::fs::path& about, const std::string& text);
  void load();
  void keep(const std::set<core::fs::path>& roots) const;

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false, woken_ = true, working_ = false;
  int watched_ = 0;                 // recordings that are connected
  std::set<core::fs::path> roots_;  // DIR/flor-UID
  std::set<core::fs::path> kept_;   // of these, what the file keeps
  // Of the thread alone, but read under the mutex by busy():
  bool backlog_ = false;  // the last round left something behind
  bool live_ = false;     // the last round saw a recording that may write more
  core::RateLimiter pacer_;
  std::map<core::fs::path, std::string> said_;
  std::thread thread_;
};

}  // namespace flor::agent
