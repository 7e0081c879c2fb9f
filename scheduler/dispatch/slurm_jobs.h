// Keeps the list of a replay's job arrays in Slurm for SlurmLauncher, tells which tasks live, and cancels
// them.
// Motivation: a number does not identify a job. Each cluster has its own numbers, and a controller that lost
// its state counts from the start. So a job is ours if its cluster and number match, and if squeue shows our
// script as its command.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dispatch/launcher.h"

namespace flor::dispatch {

struct ArrayJob {
  std::string number;
  std::string cluster;  // empty: the default one of Slurm's tools
};

// Parses "42" or "42;cluster", the format of `sbatch --parsable` and of the file of jobs. Pure.
std::optional<ArrayJob> parse_job(const std::string& text);

struct ArrayTask {
  std::string job, state;
  std::string reason{};  // why it is in this state; "" for none
};

// Parses `squeue --noheader --array --format='%F %T %r|%o'`. Returns the tasks whose command is `script`.
// Pure.
std::vector<ArrayTask> parse_tasks(const std::string& text, const fs::path& script);

// Counts the tasks by what is to be expected of them. Pure.
Liveness count(const std::vector<ArrayTask>& tasks);

class SlurmJobs {
 public:
  // `file` stores the jobs for a later `flor replay`. `script` is the batch script of all jobs.
  SlurmJobs(fs::path file, fs::path script);

  // Adds a job that sbatch accepted, also to the file. If that throws, the job is being cancelled.
  void add(const ArrayJob& job);

  // Finds the jobs that an earlier `flor replay` left running, also a job that it could not write to the file
  // before it was killed. Searches the default cluster, those in the file, and `clusters`. Throws core::Error
  // if Slurm does not answer for a cluster in the file.
  void find(std::set<std::string> clusters);

  // Asks Slurm for the state of the tasks. Returns nullopt if it does not answer; trouble() tells why.
  std::optional<Liveness> ask();

  // Cancels all tasks, also those that Slurm would start again. Returns when none is left that runs or could
  // run, or after about 10 s.
  void cancel();

  // Forgets all jobs, because they are over.
  void clear();

  bool empty() const { return jobs_.empty(); }
  const std::string& trouble() const { return trouble_; }

  // Returns the numbers of the jobs, for the user: "42, 43".
  std::string describe() const;

  // Returns the output of `scontrol --oneliner show job` for the task with this array index, in the latest
  // job that has such a task; "" if Slurm has forgotten it.
  std::string record_of_task(const std::string& index) const;

 private:
  std::optional<std::vector<ArrayTask>> tasks_of(const std::string& cluster, const std::string& numbers);
  std::set<std::string> clusters() const;  // of the jobs in living_
  std::string numbers_on(const std::string& cluster) const;
  void send_cancel() const;

  fs::path file_, script_;
  std::vector<ArrayJob> jobs_;
  // The jobs that squeue showed last, and those added since. Only these are asked for.
  std::vector<ArrayJob> living_;
  std::string trouble_;
};

}  // namespace flor::dispatch
