// Requeues this process's Slurm job after a preemption.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace flor::core {

// Puts the job back into the queue, within the grace time of a preemption. `came`: when SIGTERM came, in
// seconds since 1970. Returns whether that was done. Does nothing where the partition has preempted jobs
// cancelled (PreemptMode=CANCEL). Slurm requeues a preempted job that it has to kill, but
// not one that ends by itself before. To wait for the kill would keep resources from other jobs. A requeue
// kills further steps of the job: where some run, waits up to 20 s for their ends, and does nothing if they
// have not come by then, or Slurm does not tell. Of several steps that wait for each other the first one does
// it. SIGTERM may come to all jobs of a cluster at once: so the first question waits up to 2 s, by chance,
// the pauses between later ones grow, and Slurm is asked for this job alone.
bool requeue_if_preempted(double came) noexcept;

// Was the job preempted at about `came`? `printed`: its PreemptTime in seconds since 1970, or a word; of a
// heterogeneous job a line for each component. A job that was suspended and goes on keeps the time of that.
// Pure.
bool is_time_of_preemption(const std::string& printed, double came);

// Does Slurm end preempted jobs of this partition for good? `partition`: the output of `scontrol show
// partition`. `config`: that of `scontrol show config`, by which a QOS may decide instead; then false, since
// neither shows what the QOS says. Pure.
bool cancels_preempted(const std::string& partition, const std::string& config);

// A job, as Slurm's answer has it.
struct SlurmJob {
  std::string id;         // "7"
  std::string name;       // for scontrol: "7", or "7_3" in an array
  std::string preempted;  // see is_time_of_preemption()
};

// Returns the job with the number `id` in `printed`: of each job its ArrayTaskID, JobID, ArrayJobID and
// PreemptTime, on one line. std::nullopt where it is not among them. The last task of an array to start has
// the array's number for its own: the answer to a question about it has all tasks, and `scontrol requeue` of
// that number puts all of them back, also those that are completed. So a task needs the array's name, but
// that of the environment may be one that a job around this one has left there. Pure.
std::optional<SlurmJob> find_job(const std::string& printed, const std::string& id);

// The numbers of the job's other steps in `printed`, the output of `scontrol --oneliner show step`. `own`:
// the number of this step, such as "0". The batch script and others that have no number do not count, nor do
// steps of further tasks of the array. std::nullopt where it is no answer: that is not the same as no steps.
// Pure.
std::optional<std::set<int64_t>> other_steps(const std::string& printed, const SlurmJob& job,
                                             const std::string& own);

}  // namespace flor::core
