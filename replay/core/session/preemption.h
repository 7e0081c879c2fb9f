// Requeues this process's Slurm job after a preemption.
#pragma once

namespace flor::core {

// Puts the job back into the queue, within the grace time of a preemption. Returns whether that was done.
// Slurm requeues a preempted job that it has to kill, but not one that ends by itself before. To wait for the
// kill would keep resources from other jobs. Runs squeue and scontrol, so asks slurmctld at most twice.
bool requeue_if_preempted() noexcept;

}  // namespace flor::core
