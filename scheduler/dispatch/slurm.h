// Runs the workers of a replay as tasks of a Slurm job array.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/cluster.h"
#include "dispatch/launcher.h"
#include "dispatch/slurm_jobs.h"

namespace flor::dispatch {

// The user's options for sbatch. Empty: not given.
struct SbatchFlags {
  std::string partition, qos, time, gres, account, constraint, cpus_per_task, mem;
  std::vector<std::string> others;  // whole options: "--exclude=n3"
};

class SlurmLauncher : public Launcher {
 public:
  SlurmLauncher(WorkerOrder order, SbatchFlags flags, std::unique_ptr<Cluster> cluster);

  std::string name() const override { return "slurm"; }
  std::size_t free_places() override;
  std::size_t room() override;
  void start(std::size_t workers) override;
  std::size_t adopt() override;
  Liveness liveness() override;
  Liveness liveness_now() override;
  std::string trouble() const override { return jobs_.trouble(); }
  bool any_began() override;
  std::string describe() const override;
  std::string failure_tail() override;
  void cancel() override;

 private:
  std::string gres();
  Result submit(std::size_t workers);
  std::size_t fewer_than(std::size_t workers, const std::string& why);
  std::vector<fs::path> outputs() const;

  WorkerOrder order_;
  SbatchFlags flags_;
  std::unique_ptr<Cluster> cluster_;
  std::optional<std::vector<Node>> nodes_;
  SlurmJobs jobs_;
  std::size_t started_ = 0;
  std::size_t most_ = 0;  // the most tasks that Slurm accepts in an array; 0: unknown
  std::string limit_;     // for the user: why there are fewer workers; "" if there are not
  fs::file_time_type since_;
  std::chrono::steady_clock::time_point asked_;
  Liveness last_;
};

// Returns true if Slurm's tools are installed and its controller answers within 10 s.
bool slurm_answers();

// Returns the CPUs of a worker: the flag, else the recorded number of threads, else 1.
std::size_t cpus_of(const SbatchFlags& flags, const WorkerOrder& order);

// Returns the batch script of the array: one srun of the user's command. Pure.
std::string job_script(const WorkerOrder& order, std::size_t cpus);

// Returns the sbatch command line for `workers` workers. It has no secrets. Pure.
std::vector<std::string> sbatch_command(const WorkerOrder& order, const SbatchFlags& flags,
                                        std::size_t workers, const std::string& gres, std::size_t cpus);

// Returns true if, after this error of sbatch, Slurm may accept an array of fewer tasks. Pure.
bool is_too_many(const std::string& error);

// Returns MaxArraySize from `scontrol show config`; 0 if it is missing. Pure.
std::size_t parse_max_array_size(const std::string& config);

// Returns how a task ended, from `scontrol --oneliner show job`: "FAILED (NonZeroExitCode), exit code 3".
// Returns "" if it is not over, or was successful. Pure.
std::string parse_end(const std::string& text);

}  // namespace flor::dispatch
