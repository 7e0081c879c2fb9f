// Tells whether a run changed since it was last read.
#pragma once

#include <optional>
#include <string>

#include "core/store/manifest.h"
#include "core/store/store.h"

namespace flor::sql {

struct Stamp {
  // Changes with what the run and its replays logged: of each file its name, owner, number, size and
  // time. Empty where nothing can be said: a file cannot be looked at.
  std::string text;
  // Of a run that says it is being recorded. Its status changes when its process ends, without any file.
  std::optional<core::Manifest> recording;
};
Stamp stamp_of(const core::RunDir& run);

}  // namespace flor::sql
