// What becomes of a process whose launch another process has taken: one process of a launch records
// (docs/semantics.md, rule 16).
#pragma once

#include <string>

#include "core/store/store.h"

namespace flor::core {

// Call in a process that cannot take the launch. Waits up to 5 seconds for the manifest of the launch's run.
// If it does not come, marks that run as that of one of several (RunDir::several()): this process may belong
// to it. If that run has ended, says why this process is not recorded. So too if it is that of another
// program, or of the same one with another environment (`SEED=1 ./train & SEED=2 ./train &` in one step);
// then it also leaves a mark beside the launch: after a requeue, none of the programs may take another one's
// run. If it is the same program with the same environment, says nothing, and marks the run as that of one of
// several. Does nothing in processes that the recording one has started. Throws as Store::claim_launch().
void leave_to_recorder(const Store& store, const std::string& launch);

// Call where the program was seen to be in a group of processes that train together. Launchers do not tell of
// a group that the program makes by itself, as of several steps of a job.
void note_group();
bool is_in_group();
// Is this process one of several that train together: in such a group, or by the environment that their
// launcher gave it? Resumed alone it would wait for the others for ever, or mix their weights with those of
// another epoch.
bool is_one_of_several();
// Leaves the mark RunDir::several(). Throws std::system_error.
void mark_several(const RunDir& run);

// Call after a requeue in a program that shares the launch with the one that recorded `run`. Gives that one
// 10 seconds to take the launch first. If it does not come, this one is recorded, and says so.
void wait_for_its_program(const Store& store, const std::string& launch, const RunDir& run);

}  // namespace flor::core
