#pragma once

#include <sys/types.h>

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

// Writes `path`, really, down to the disk: a full disk refuses only what has bytes.
Problem write_file(const std::string& path);

// Can files be written in the store? Tries.
Problem check_writable(const Store& store);

// Is the label free? An earlier attempt of the job of `launch` may have it: a requeued job is no second
// recording.
Problem check_label_free(const Store& store, uid_t user, const std::string& label, const std::string& launch);

// Resolves RUN or RUN/REPLAY, RUN an id or a label of the user, to one with an id. Empty if there is no such
// run.
std::string resolve_replay(const Store& store, uid_t user, const std::string& replay);

}  // namespace flor::spank
