// The interface through which `flor replay` starts the workers of a replay, watches them and ends them.
// LocalLauncher runs them as local processes, SlurmLauncher as a Slurm job array. Both start the same program
// with the same environment.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/store/store.h"
#include "dispatch/process.h"

namespace flor::dispatch {

// The program that a worker runs, and what it needs.
struct WorkerOrder {
  core::ReplayDir replay;
  std::vector<std::string> command;
  fs::path cwd;
  Environment environment;  // FLOR_REPLAY, …, and the record's preset; added to this process's environment
  std::string threads;      // number of threads that the recording used; empty: unknown
  std::string gpu;          // model of the GPU that the recording used; empty: none
};

// Returns the environment of this process plus that of the order, without variables that would make the
// worker record, or replay something else.
Environment worker_environment(const WorkerOrder& order);

struct Liveness {
  std::size_t running = 0;
  std::size_t waiting = 0;  // not started yet
  // Their program has ended, and Slurm still clears up. A task that was preempted or requeued waits again
  // afterwards.
  std::size_t ending = 0;
  std::size_t stuck = 0;  // in Slurm's queue, and never started from there
  // Why one of those that are stuck, or else of those that wait, does not run; "": not known.
  std::string reason{};
  // Not those that are ending or stuck.
  bool any() const { return running + waiting > 0; }
};

class Launcher {
 public:
  virtual ~Launcher() = default;

  // Returns "local" or "slurm".
  virtual std::string name() const = 0;

  // Returns how many workers the free part of the machine or cluster can run now; at least 1.
  virtual std::size_t free_places() = 0;

  // Returns for how many more workers there is a free place now. Always 0 for a launcher whose places do not
  // change. Call it seldom: it asks a server.
  virtual std::size_t room() { return 0; }

  // Starts this many more workers. Throws core::Error with a text of one line.
  virtual void start(std::size_t workers) = 0;

  // Takes over the workers that an earlier `flor replay` of the same replay left running, and returns how
  // many there are. Throws core::Error if this cannot be found out.
  virtual std::size_t adopt() { return 0; }

  // Returns how many workers live. Can be called every second: a launcher that must ask a server does so less
  // often.
  virtual Liveness liveness() = 0;

  // The same, but always asks.
  virtual Liveness liveness_now() { return liveness(); }

  // Returns the reason why liveness() may be out of date; "" if it is not. The workers go on meanwhile.
  virtual std::string trouble() const { return ""; }

  // Returns true if the program of any worker has started, or if this is unknown.
  virtual bool any_began() { return true; }

  // Returns what this launcher started, for the user: "job 42, 8 tasks".
  virtual std::string describe() const = 0;

  // Returns the file and the last lines of output that explain why workers failed; "" if there are none. Call
  // it after a failure.
  virtual std::string failure_tail() = 0;

  // Ends all workers. Returns when they are gone, or after some seconds.
  virtual void cancel() = 0;

  // Waits at most this long for the running workers to end by themselves, and then cancels the rest.
  void finish(std::chrono::milliseconds at_most);

 protected:
  Launcher() = default;
  Launcher(const Launcher&) = default;
  Launcher& operator=(const Launcher&) = default;
};

}  // namespace flor::dispatch
