// Moves checkpoints from the node's local tiers to the store, on its own thread, at low priority. Removes a
// run's directory in a tier when its recording is over.
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
#include "room_waits.h"

namespace flor::agent {

// Looks through all local tiers that it knows: the configured one, and those of recordings that have
// connected. Writes the tiers of recordings to `known`, which the next agent reads. Thread-safe.
class Spooler {
 public:
  struct Options {
    core::fs::path known;  // the file that keeps the tiers, one on each line
    core::fs::path tier;   // the configured tier; empty: none
    bool service = false;  // the agent goes on when no one is connected
  };

  explicit Spooler(Options options);
  // Breaks off the present copy. This loses nothing.
  ~Spooler();
  Spooler(const Spooler&) = delete;
  Spooler& operator=(const Spooler&) = delete;

  // Adds a connected recording. `local` is its directory in the local tier, and `home` its run's directory in
  // the store. Throws core::Error unless all of it belongs to this user, and `local` names this `home`
  // (core::open_local_run).
  void watch(const core::fs::path& local, const core::fs::path& home);
  // Counts one connected recording less. Its tier stays known.
  void unwatch();
  // Looks through the tiers now.
  void wake();

  // Returns true while it works or is about to, or has files of ended recordings that it could not bring yet.
  bool busy() const;
  bool is_service() const { return options_.service; }

 private:
  void work() noexcept;
  void round();
  void look_at(const core::fs::path& directory);
  void bring(const core::LocalRun& local);
  void spool(const core::LocalRun& local, bool live);
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
  std::set<core::fs::path> kept_;   // those of roots_ that the file keeps
  // Written by the thread, under the mutex, because busy() reads the first:
  bool backlog_ = false;  // the last round left files of ended recordings behind
  bool live_ = false;     // the last round saw a recording that may write more
  core::RateLimiter pacer_;
  RoomWaits room_waits_;
  std::map<core::fs::path, std::string> said_;
  std::thread thread_;
};

}  // namespace flor::agent
