// Runs the workers of a replay as child processes on this machine. No worker outlives this process, however
// it ends.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "dispatch/launcher.h"

namespace flor::dispatch {

class LocalLauncher : public Launcher {
 public:
  explicit LocalLauncher(WorkerOrder order);
  ~LocalLauncher() override;
  LocalLauncher(const LocalLauncher&) = delete;
  LocalLauncher& operator=(const LocalLauncher&) = delete;

  std::string name() const override { return "local"; }
  std::size_t free_places() override;
  void start(std::size_t workers) override;
  Liveness liveness() override;
  std::string describe() const override;
  std::string failure_tail() override;
  void cancel() override;

 private:
  struct Worker {
    pid_t pid = -1;
    fs::path output;
    std::uintmax_t offset = 0;  // where its own output starts in the file, in bytes
    bool alive = true;
    int code = 0;
  };
  class Guard;

  WorkerOrder order_;
  std::unique_ptr<Guard> guard_;
  std::vector<std::string> gpus_;
  std::vector<Worker> workers_;
};

// Returns the devices in CUDA_VISIBLE_DEVICES (`visible`), or, if that is nullptr, the numbers of the GPUs
// that `nvidia-smi -L` lists. Pure.
std::vector<std::string> visible_gpus(const std::string& listing, const char* visible);

// Returns how many workers fit: one for each GPU; without GPUs, cores / recorded threads, at least 1. Pure.
std::size_t local_places(std::size_t gpus, std::size_t cores, const std::string& threads);

}  // namespace flor::dispatch
