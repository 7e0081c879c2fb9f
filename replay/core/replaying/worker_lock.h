// Which process is the worker of a task. Its lock lies beside the files that it writes about itself.
#pragma once

#include <optional>
#include <string>

#include "core/store/presence.h"
#include "core/store/store.h"

namespace flor::core {

// Returns NODE.JOB.ARRAY_TASK.STEP.PROCESS, without what Slurm does not tell: unique within one replay, and
// the same after a restart of the process, so that the queue sees one worker. The steps of a job that run
// side by side all have a process 0.
std::string worker_name();

// Takes the lock of the worker worker_name(). Returns std::nullopt where another process of the task has it
// (docs/semantics.md, rule 16): one that has started this one, or that was started beside it. Waits
// `patience` seconds for any other process, such as one that an earlier start of the job left behind. If that
// keeps the lock, ends this process with a message, since it would train the whole program otherwise; but
// returns std::nullopt in a helper, which has other arguments than the program.
std::optional<Presence> take_worker_lock(const RunDir& run, const ReplayDir& replay, double patience = 10);

}  // namespace flor::core
