// From what the user asks to a plan: reads the record, compares the sources, checks everything that can be
// checked before anything is started, and publishes the plan once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/manifest.h"
#include "core/plan.h"
#include "core/store.h"

namespace flor::commands {

struct Request {
  core::RunDir run;
  std::string epochs;          // "40:60", "3,7,20:30"; empty: all
  std::string probe = "auto";  // auto, none, all, or names of blocks with commas between
  bool any_device = false;
  std::vector<std::string> program;
  int64_t every = 1;    // of the epochs, each so-manieth only
  std::string where{};  // "loss > 2": of these, where this was recorded; empty: all
};

// A question that can be answered.
struct Asked {
  core::RunDir run;
  core::Manifest manifest;
  core::Plan plan;                 // without replay id, segments and estimates
  std::vector<double> costs;       // seconds of each unit of the run under this question
  std::vector<std::string> notes;  // for the user, one line each
};

// Throws core::UsageError in one line: no finished iteration, an incomplete run, epochs out of range, an
// unknown block, a program that is not there. Writes nothing.
Asked ask(const Request& request);

// Makes the plan one whose units are entered by pseudoresume, whatever the run's checkpoints are.
void enter_from_start(core::Plan& plan);

// Held while a plan is looked for and published: two commands that ask the same get one replay.
core::FileLock lock_planning(const core::RunDir& run);

// The newest replay of the same question that has no verdict yet.
std::optional<core::ReplayDir> unfinished(const Asked& asked);

// Cuts the plan for so many workers and publishes it as the replay's, durably. Where one is published
// already, that one is returned.
core::Plan publish(const Asked& asked, const core::ReplayDir& replay, std::size_t workers);

// Selected units whose files are there, in order.
std::vector<int64_t> units_done(const core::ReplayDir& replay, const core::Plan& plan);

}  // namespace flor::commands
