// Draws the runs of a store, or one run, as lines of text for `flor watch`. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace flor::dashboard {

struct View {
  std::size_t width = 80, height = 24;
  // Only runs with all of these words in their name, id, status, node, job or arguments.
  std::string filter{};
  std::size_t page = 0;
  // The user is writing the filter.
  bool is_typing = false;
  // The terminal shows UTF-8; else bars and curves are of ASCII.
  bool is_utf8 = true;
};

struct Screen {
  // At most as many as the view is high, each at most as wide.
  std::vector<std::string> lines;
  std::size_t pages = 1;
};

// Draws what Runs::snapshot() gives, the runs that are being recorded first.
Screen screen_of_runs(const core::Json& snapshot, const View& view);

// Draws one run: {"line": a run of the list, "replays": [{"id", "state", "committed", "selected"}], "series":
// [{"name", "y": [numbers, null]}]}. A replay that goes on has "work" (terminal/gantt.h): a line for each
// worker.
Screen screen_of_run(const core::Json& run, const View& view);

// Returns one line that says how far a run is, for an output that is no terminal.
std::string line_of_run(const core::Json& run);

// Returns a curve of the numbers, `width` letters wide: each letter is the mean of its part, from the lowest
// to the highest. A part without a number is blank.
std::string curve(const core::Json& numbers, std::size_t width, bool is_utf8);

}  // namespace flor::dashboard
