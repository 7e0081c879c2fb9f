// The index of a store: what its runs logged, as an SQLite database that one user has on a local disk. It is
// made of the store's files alone, so it can be removed at any time. SQLite's locks do not hold on many
// network file systems, so it never lies in the store.
//
// Queries see four views (docs/guide.md, "Ask with SQL"):
//   runs      one line for each run: run, name, status, user, host, job, started, finished, exit_code,
//   command,
//             cwd, loop, iterations
//   args      run, name, value, text: the hyper-parameters; `value` is a number where the text is one
//   log       one line for each value that a run or its replays logged: run, name, position, value, exact,
//   and
//             a column for each loop of the store with the iteration
//   coverage  run, name, recorded (1: by the recording), iterations, of: how much of the main loop has the
//   name
// `value` is a number or a text. `exact` is NULL, but where a value is none of these, or a whole number that
// SQLite does not hold: then it is the value as it was logged.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/store/store.h"
#include "sql/database.h"

namespace flor::sql {

struct Refreshed {
  // Runs that were read now, and their values.
  std::size_t runs = 0, rows = 0;
  // One line for each run or part that is damaged and left out.
  std::vector<std::string> warnings;
  // A run was left out because its loops had no column left.
  bool lacked_columns = false;
};

// Returns the file of a store's index in `directory`.
std::filesystem::path index_file(const std::filesystem::path& directory, const core::Store& store);

// Creates the index where it is missing, damaged or of another version; reads the runs that changed since the
// last time; forgets those that are gone. Several processes may call it at once. Throws core::Error where the
// file cannot be written.
Refreshed refresh(const std::filesystem::path& file, const core::Store& store);

}  // namespace flor::sql
