// Starts the workers of a replay, knows whether any still lives, and ends them. Two implementations: local
// processes and a Slurm job array. Both start the same program with the same environment.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/store/store.h"
#include "dispatch/process.h"

namespace flor::dispatch {

// What a worker is.
struct WorkerOrder {
  core::ReplayDir replay;
  std::vector<std::string> command;
  fs::path cwd;
  Environment environment;  // FLOR_REPLAY, …, and the record's preset, added to ours
  std::string threads;      // that the record computed with; empty: unknown
  std::string gpu;          // model that the record computed on; empty: none
};

// Ours with the order's; without what would make a worker something else.
Environment worker_environment(const WorkerOrder& order);

struct Liveness {
  std::size_t running = 0;
  std::size_t waiting = 0;  // for a place to run
  bool any() const { return running + waiting > 0; }
};

class Launcher {
 public:
  virtual ~Launcher() = default;

  // "local" or "slurm".
  virtual std::string name() const = 0;

  // How many workers the free part of the machine or cluster can run now; at least 1.
  virtual std::size_t free_places() = 0;

  // How many more of them could begin at once; none where what is free does not change. Asks a server:
  // seldom.
  virtual std::size_t room() { return 0; }

  // Starts this many more workers. Throws core::Error in one line.
  virtual void start(std::size_t workers) = 0;

  // Goes on with workers that an earlier `flor replay` of the same replay left running. How many. Throws
  // core::Error where that cannot be told.
  virtual std::size_t adopt() { return 0; }

  // Cheap enough to be called every second: a launcher that must ask a server asks it less often.
  virtual Liveness liveness() = 0;

  // The same, asked now.
  virtual Liveness liveness_now() { return liveness(); }

  // Why liveness() may be out of date; "" when it is not. Workers go on meanwhile.
  virtual std::string trouble() const { return ""; }

  // Did any worker's program begin? Where it cannot be told: yes.
  virtual bool any_began() { return true; }

  // What this launcher started, for the user: "job 42, 8 tasks".
  virtual std::string describe() const = 0;

  // The file and the last lines of the output of a worker that failed; "" when none did or none wrote.
  virtual std::string failure_tail() = 0;

  // Ends every worker. Returns when they are gone, or when that took too long.
  virtual void cancel() = 0;

  // Waits for the workers to leave by themselves, at most this long, then cancels what is left.
  void finish(std::chrono::milliseconds at_most);

 protected:
  Launcher() = default;
  Launcher(const Launcher&) = default;
  Launcher& operator=(const Launcher&) = default;
};

}  // namespace flor::dispatch
