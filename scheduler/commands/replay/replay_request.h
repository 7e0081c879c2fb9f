// From what the user asks to a plan: reads the record, compares the sources, and checks everything that can
// be checked before anything is started.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/store/manifest.h"
#include "core/store/plan.h"
#include "core/store/store.h"
#include "core/store/timeline.h"

namespace flor::commands {

// What executes whatever the sources say, because a proof contradicted what they said.
struct Forced {
  bool from_start = false;       // units are entered by running the program from its start
  bool all = false;              // every block executes, also in front of the units
  std::set<std::string> blocks;  // else these
};

struct Request {
  core::RunDir run;
  std::string epochs;          // "40:60", "3,7,20:30"; empty: all
  std::string probe = "auto";  // auto, none, all, or names of blocks with commas between
  bool any_device = false;
  std::vector<std::string> program;
  int64_t every = 1;    // of the epochs, each so-manieth only
  std::string where{};  // "loss > 2": of these, where this was recorded; empty: all
  std::string steps{};  // "0:100": of these, the units that hold such steps of the inner loop; empty: all
  bool whole_iterations =
      false;  // units begin and end with iterations, also where there are checkpoints inside of them
  std::string prove = "auto";  // proof units: none, all, a number, brief, or auto
  Forced forced{};
};

// A question that can be answered.
struct Asked {
  core::RunDir run;
  core::Manifest manifest;
  core::Plan plan;                 // without replay id, segments and estimates
  std::vector<std::string> notes;  // for the user, one line each
  bool prove_exactly = false;      // the user said how many proof units there shall be
};

// Throws core::UsageError in one line: no finished iteration, an incomplete run, epochs out of range, an
// unknown block, a program that is not there. Writes nothing.
Asked ask(const Request& request);

// What replays of the run measured: rows of their timelines, without those that are damaged.
core::Timeline restores_of(const core::RunDir& run);

// Makes the plan one whose units are entered by pseudoresume, whatever the run's checkpoints are.
void enter_from_start(core::Plan& plan);

}  // namespace flor::commands
