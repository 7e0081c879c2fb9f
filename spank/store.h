#pragma once

#include <functional>
#include <optional>
#include <string>

#include "values.h"

namespace flor::spank {

// The value of a variable, empty if it is not set, in the environment of srun or in that of the task.
using Environment = std::function<std::string(const char*)>;

struct Store {
  std::string path;
  std::string origin;  // for messages: "--flor-store", "FLOR_STORE", the flor.conf, "the default"
};

// Which store is meant: the flag, else FLOR_STORE, else `store` in the user's flor.conf, then the system's,
// else ~/.flor. The path is absolute.
Store resolve_store(const std::optional<std::string>& flag, const Environment& environment);

// Creates the store if only its last component is missing.
Problem create_store(const Store& store);

// Can files be written in the store? Tries.
Problem check_writable(const Store& store);

// Is this user's label free? An earlier attempt of the job of `launch` may have it: a requeued job is no
// second recording.
Problem check_label_free(const Store& store, const std::string& label, const std::string& launch);

// Notes that the task of a launch begins, unless it is a batch step, and forgets what an earlier launch of
// the same name left. Refuses a store where others could say what the user's launches recorded.
Problem begin_launch(const Store& store, const std::string& launch, bool batch);

// Did the task of the launch begin without recording anything? Asked once, for srun, when it has ended. False
// also where the store is not seen from here. Throws what the core's shared_directory.h throws.
bool recorded_nothing(const Store& store, const std::string& launch);

// Resolves RUN or RUN/REPLAY, RUN an id or a label of this user that names a run of theirs, to one with an
// id. Empty if there is no such run. Throws what the core's shared_directory.h throws.
std::string resolve_replay(const Store& store, const std::string& replay);

}  // namespace flor::spank
