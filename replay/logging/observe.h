// Converts a logged tensor to the value of a row (docs/formats.md, "Rows").
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
  // Of the histogram of a summary. 0: no histogram.
  int buckets = 0;
};

// Where the files of a row go, and what names them.
struct RowDestination {
  core::RowFiles files;
  // Name of the row.
  std::string name;
  // Its scope, as a file name.
  std::string stem;
};

// Takes the values as they are now. `after`, and exceptions: as Background::submit().
core::Later observe(Background& background, const core::Buffer& live, const Observation& what,
                    const RowDestination& destination, Background::After after = {});

}  // namespace flor::logging
