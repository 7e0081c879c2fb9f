// What a user sees while a replay runs. The texts are pure; Display writes them.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "core/base/json.h"

namespace flor::commands {

// How far a replay is.
struct Snapshot {
  std::size_t done = 0, units = 0;
  double cost_done = 0,
         cost = 0;      // estimated seconds of work: done since this command began, and left when it did
  double elapsed = 0;   // seconds since this command began
  double makespan = 0;  // as planned
  std::size_t running = 0, waiting = 0;  // workers
};

// Seconds until the end: from the rate so far, before the first unit from the plan. Nothing when neither can
// tell.
std::optional<double> eta(const Snapshot& now);

// "5 of 12 units, 4 workers, 12.0 s, about 20.0 s left"
std::string progress_line(const Snapshot& now);

// "[#####-------] " and the line, at most `width` characters.
std::string progress_bar(const Snapshot& now, std::size_t width);

core::Json progress_json(const Snapshot& now);

// Text for people goes to stdout; with `json` to stderr, and stdout has one JSON object a line.
enum class Show { text, json, nothing };
class Display {
 public:
  explicit Display(Show what);
  ~Display();
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  void say(const std::string& text);    // one or more whole lines
  void event(const core::Json& event);  // nothing without `json`
  // A redrawn bar on a terminal; else a line for every tenth of the units or every ten seconds; an event for
  // all news.
  void show(const Snapshot& now);
  void end_bar();

 private:
  void show_line(const Snapshot& now);

  Show what_;
  bool terminal_;
  bool drawn_ = false;
  std::string bar_;
  std::optional<Snapshot> seen_;  // at the last call
  std::optional<Snapshot> told_;  // in the last line
  std::chrono::steady_clock::time_point when_;
};

}  // namespace flor::commands
