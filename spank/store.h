// Asks the store, for the plugin: can it be written, is a label free, what did a launch record?
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "values.h"

namespace flor::spank {

// Returns the value of a variable, or "" if it is not set. Reads the environment of srun or that of the task.
using Environment = std::function<std::string(const char*)>;

// The store, as the plugin needs it. It includes only the parts of the core that link libc alone.
struct Store {
  std::string path;
  std::string
      origin;  // for messages: "--flor-store", "FLOR_STORE", the path of a flor.conf, or "the default"
};

// Returns the store to use: the flag, else FLOR_STORE, else `store` in the user's flor.conf or the system's,
// else ~/.flor. The path is absolute.
Store resolve_store(const std::optional<std::string>& flag, const Environment& environment);

// Creates the store if only its last component is missing.
Problem create_store(const Store& store);

// Checks that files can be written in the store, by writing one.
Problem check_writable(const Store& store);

// Checks that this user's label is free. It may belong to a run of the same job as `launch`, since a requeued
// job is no second recording; or to that of another task of its `array` (array_of_launch()), as where all
// tasks begin together: the first one has the name, and the library tells it of the others.
Problem check_label_free(const Store& store, const std::string& label, const std::string& launch,
                         const std::string& array = "");

// Marks that the task of a launch begins, and what it starts: a program_digest(), or std::nullopt for a batch
// step, which has no mark. Removes the files of an earlier launch with the same name. Refuses a store where
// other users could change what the user's launches recorded.
Problem begin_launch(const Store& store, const std::string& launch,
                     const std::optional<std::string>& program);

// Returns true if the task of the launch began, but recorded nothing; false also if the store cannot be seen
// from here. Call it once, in srun, after the task has ended. With `ended_by_itself` it removes the mark:
// where Slurm ended the step, its job may start again, and the mark then tells that this step was there.
// Throws what the core's shared_directory.h throws.
bool recorded_nothing(const Store& store, const std::string& launch, bool ended_by_itself);

// Resolves RUN or RUN/REPLAY, where RUN is an id, or a label of this user for a run of theirs, to the form
// with an id. Returns "" if there is no such run. Throws what the core's shared_directory.h throws.
std::string resolve_replay(const Store& store, const std::string& replay);

}  // namespace flor::spank
