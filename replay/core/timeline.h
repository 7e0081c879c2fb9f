// Which checkpoints a timeline names that are still meant to be there. Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/json.h"

namespace flor::core {

// The rows of the checkpoints, in order, without those that rows behind them took back (`removed`)
// or rows anywhere found wrong (`doubt`). A checkpoint that was written again counts once, as last written.
std::vector<Json> kept_checkpoints(const std::vector<Json>& timeline);

// The files that were removed on purpose and not written again since, relative to the run directory. Some
// may still be there: for the tensors that other checkpoints refer to.
std::set<std::string> removed_checkpoints(const std::vector<Json>& timeline);

// The files that were found wrong.
std::set<std::string> doubted_checkpoints(const std::vector<Json>& timeline);

// The row that takes a checkpoint back. `held`: its file stays, for what others refer to.
Json removed_row(const std::string& file, const std::string& at, bool held);

}  // namespace flor::core
