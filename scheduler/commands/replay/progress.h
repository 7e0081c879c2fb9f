// Shows a user the progress of a replay. The functions that make texts are pure; Display writes them.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "core/base/json.h"
#include "core/store/store.h"

namespace flor::commands {

// The state of a replay at one moment.
struct Snapshot {
  std::size_t done = 0, units = 0;
  // Estimated seconds of work: done since this command began, and left when it began.
  double cost_done = 0, cost = 0;
  double elapsed = 0;                    // seconds since this command began
  double makespan = 0;                   // planned seconds
  std::size_t running = 0, waiting = 0;  // workers
};

// Returns the seconds until the end: from the rate so far, or, before the first unit, from the plan. Returns
// nullopt if neither is enough.
std::optional<double> eta(const Snapshot& now);

// Returns "5 of 12 units, 4 workers, 12.0 s, about 20.0 s left".
std::string progress_line(const Snapshot& now);

// Returns "[#####-------] " and the line, cut to `width` characters.
std::string progress_bar(const Snapshot& now, std::size_t width);

core::Json progress_json(const Snapshot& now);

// Where the output goes. text: text to stdout. json: text to stderr, and one JSON object on each line of
// stdout.
enum class Show { text, json, nothing };
class Display {
 public:
  explicit Display(Show what);
  ~Display();
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  void say(const std::string& text);  // writes one or more whole lines
  // The same, of a unit or a replay that failed.
  void say_failure(const std::string& text);
  // From now on also writes messages to this replay's file (results/messages.h). std::nullopt: no longer.
  void keep_in(std::optional<core::ReplayDir> replay) { kept_in_ = std::move(replay); }
  // Keeps a failure that is shown elsewhere.
  void keep_failure(const std::string& text) const;
  void event(const core::Json& event);  // does nothing without `json`
  // Shows the progress. On a terminal, redraws a bar; else writes a line after each tenth of the units, or
  // after ten seconds. Writes an event for every change.
  void show(const Snapshot& now);
  void end_bar();

 private:
  void show_line(const Snapshot& now);
  void print_lines(const std::string& text);

  Show what_;
  bool terminal_;
  bool drawn_ = false;
  std::string bar_;
  std::optional<core::ReplayDir> kept_in_;
  std::optional<Snapshot> seen_;  // that of the last call of show()
  std::optional<Snapshot> told_;  // that of the last line
  std::chrono::steady_clock::time_point when_;
};

}  // namespace flor::commands
