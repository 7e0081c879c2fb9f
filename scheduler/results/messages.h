// Keeps what `flor replay` tells its user while it works: units that failed and the end of their output,
// workers that Slurm does not start and its reason, a Redis that is away. The terminal forgets it; the pages
// of the replay show it (docs/formats.md, "Messages").
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/store.h"

namespace flor::results {

struct Message {
  // Seconds since 1970, by the clock of the node that `flor replay` runs on.
  double time = 0;
  // A unit or the whole replay failed.
  bool is_failure = false;
  // One line or several.
  std::string text;
};

core::fs::path messages_file(const core::ReplayDir& replay);

// Appends a message. Does nothing where it cannot be written: no row depends on it.
void keep_message(const core::ReplayDir& replay, const Message& message) noexcept;

// Returns the last 200 messages in order. Returns none where they cannot be read.
std::vector<Message> read_messages(const core::ReplayDir& replay);

// [{"time", "failure", "text"}, …]
core::Json to_json(const std::vector<Message>& messages);

}  // namespace flor::results
