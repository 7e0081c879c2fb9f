// Why a replay could not answer: its file failure.json, which a worker wrote (docs/formats.md).
#pragma once

#include <optional>
#include <string>

#include "core/store/store.h"

namespace flor::results {

struct Failure {
  std::string error;
  // Would a replay that executes more have what this one lacked?
  bool lacks_state = false;
};

// Returns nullopt if no worker wrote one, or if a failed file server hides it. Throws core::Error if it is
// damaged.
std::optional<Failure> read_failure(const core::ReplayDir& replay);

}  // namespace flor::results
