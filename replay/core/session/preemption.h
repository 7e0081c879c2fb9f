// Requeues this process's Slurm job after a preemption.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace flor::core {

// Puts the job back into the queue, within the grace time of a preemption. `came`: when SIGTERM came, in
// seconds since 1970. Returns whether that was done. Slurm requeues a preempted job that it has to kill, but
// not one that ends by itself before. To wait for the kill would keep resources from other jobs. A requeue
// kills further steps of the job: where some run, waits up to 20 s for their ends, and does nothing if they
// have not come by then. Of several steps that wait for each other the first one does it. Asks slurmctld once
// a second meanwhile.
bool requeue_if_preempted(double came) noexcept;

// Was the job preempted at about `came`? `printed`: its PreemptTime in seconds since 1970, or a word; of a
// heterogeneous job a line for each component. A job that was suspended and goes on keeps the time of that.
// Pure.
bool is_time_of_preemption(const std::string& printed, double came);

// Returns what Slurm calls this process's job, from SLURM_JOB_ID, SLURM_ARRAY_JOB_ID and SLURM_ARRAY_TASK_ID:
// "7", or "7_3" in an array; "" where they are no numbers. The last task of an array to start has the array's
// number for its own, and `scontrol requeue` of that puts all tasks back, also those that are completed.
// Pure.
std::string own_job(const std::string& job, const std::string& array, const std::string& task);

// The numbers of a job's other steps in `steps`: ids, such as "7.0" or "7_3.batch", one on each line. `own`:
// the number of this step, such as "0". The batch script and others that have no number do not count. Pure.
std::set<int64_t> other_steps(const std::string& steps, const std::string& own);

}  // namespace flor::core
