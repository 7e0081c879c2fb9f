// The job arrays of one replay in Slurm: which they are, which of their tasks live, and how they are ended.
// Motivation: a number alone names no job. Each cluster counts its own, and a controller that lost its state
// counts anew. So a job is ours by its cluster and its number, and only while squeue shows our script as its
// command.
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
  std::string cluster;  // empty: the one that Slurm's tools ask by themselves
};

// "42" or "42;cluster", as `sbatch --parsable` prints it and the file of jobs keeps it. Pure.
std::optional<ArrayJob> parse_job(const std::string& text);

struct ArrayTask {
  std::string job, state;
};

// Reads `squeue --noheader --array --format='%F %T %o'`: the tasks whose command is this script. Pure.
std::vector<ArrayTask> parse_tasks(const std::string& text, const fs::path& script);

// How many of them run, and how many wait. Pure.
Liveness count(const std::vector<ArrayTask>& tasks);

class SlurmJobs {
 public:
  // `file` keeps the jobs for a later `flor replay`.
  SlurmJobs(fs::path file, fs::path script);

  // After sbatch took it.
  void add(const ArrayJob& job);

  // Finds the jobs that an earlier `flor replay` left running, also those that it was killed before it could
  // write down: on our cluster, on those that the file names, and on `clusters`. Throws core::Error where
  // Slurm does not answer for a job of the file.
  void find(std::set<std::string> clusters);

  // Nothing where Slurm does not answer; trouble() then says why.
  std::optional<Liveness> ask();

  // Ends all tasks. Returns when they are gone, or after some seconds.
  void cancel();

  // Lets them be: they are over.
  void clear();

  bool empty() const { return jobs_.empty(); }
  const std::string& trouble() const { return trouble_; }

  // For the user: "42, 43".
  std::string describe() const;

  // `scontrol --oneliner show job` of the task with this array index, of the latest job that has one; ""
  // where Slurm has forgotten it.
  std::string record_of_task(const std::string& index) const;

 private:
  std::optional<std::vector<ArrayTask>> tasks_of(const std::string& cluster, const std::string& numbers);
  std::set<std::string> clusters() const;  // of the living
  std::string numbers_on(const std::string& cluster) const;
  void send_cancel() const;

  fs::path file_, script_;
  std::vector<ArrayJob> jobs_;
  std::vector<ArrayJob> living_;  // as squeue showed last, and what came since; others are asked for no more
  std::string trouble_;
};

}  // namespace flor::dispatch
