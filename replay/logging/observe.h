// A tensor that was logged becomes the value of a row: its shapes are in docs/formats.md, "Rows".
#pragma once

#include <string>

#include "core/checkpoint/buffers.h"
#include "core/log/line.h"
#include "core/log/log_files.h"
#include "logging/background.h"

namespace flor::logging {

struct Observation {
  enum class Kind { summary, whole, image };
  Kind kind = Kind::summary;
  int buckets = 0;  // of a summary's histogram; 0: none
};

// Where files of the row go, and what they are called after.
struct RowDestination {
  core::RowFiles files;
  std::string name;  // the row's
  std::string stem;  // its scope
};

// The values are taken as they are now; `after`, and what it throws: as Background::submit.
core::Later observe(Background& background, const core::Buffer& live, const Observation& what,
                    const RowDestination& destination, Background::After after = {});

}  // namespace flor::logging
