// Preemption by Slurm, as a task of the job that it takes.
#pragma once

namespace flor::core {

// Within the grace time of a preemption: puts the job back into the queue. True when it was. Motivation:
// Slurm requeues a preempted job that it has to kill, and not one that ends by itself before that; to wait
// for the kill would keep from others what the job does not use any more. Asks slurmctld twice at most.
bool requeue_if_preempted() noexcept;

}  // namespace flor::core
