// Turns a user's question into a plan, for the commands that replay. Reads the record, compares the sources,
// and checks everything that can be checked before anything is started. Then finds what earlier replays of
// the run have answered already, and publishes the plan of the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/store/manifest.h"
#include "core/store/plan.h"
#include "core/store/presence.h"
#include "core/store/store.h"
#include "core/store/timeline.h"
#include "results/units_done.h"

namespace flor::commands {

// What must execute in any case, because the decision from the sources was not enough.
struct Forced {
  bool from_start = false;       // units are entered by running the program from its start
  bool all = false;              // every block executes, also in the lead-in of units
  std::set<std::string> blocks;  // without `all`: these blocks do so
  std::string why;               // how that was found, for the user
};

struct Request {
  core::RunDir run;
  std::string epochs;          // "40:60", "3,7,20:30"; empty: all
  std::string probe = "auto";  // auto, none, all, or names of blocks with commas between
  bool any_device = false;
  std::vector<std::string> program;
  // Each of these selects a part of the epochs: every N-th; those with such a recorded value, "loss > 2"; the
  // units that have such steps of the inner loop, "0:100". Empty: all.
  int64_t every = 1;
  std::string where{};
  std::string steps{};
  // Units are whole iterations, even if there are checkpoints inside of iterations.
  bool whole_iterations = false;
  std::string prove = "auto";  // proof units: none, all, a number, brief, or auto
  Forced forced{};
};

// A checked question.
struct Asked {
  core::RunDir run;
  core::Manifest manifest;
  core::Plan plan;                 // without replay id, segments and estimates
  std::vector<std::string> notes;  // for the user, one line each
  bool prove_exactly = false;      // the user chose the number of proof units
};

// Writes nothing. Throws core::UsageError with a text of one line: no finished iteration, an incomplete run,
// epochs out of range, an unknown block, a missing program.
Asked ask(const Request& request);

// Returns the times that replays of the run measured: the rows of their timelines. Skips damaged timelines.
core::Timeline restores_of(const core::RunDir& run);

// Changes the plan so that its units are entered by pseudoresume, even if the run has checkpoints for them.
void enter_from_start(core::Plan& plan);

// Takes the lock under which a plan is searched and published, so that two commands with the same question
// share one replay. Throws core::Error if the run was just removed.
core::Presence lock_planning(const core::RunDir& run);

// Returns the newest replay of the same question, with at least as many proof units, that has no verdict yet.
// Throws std::system_error where a file server hides plans of the run.
std::optional<core::ReplayDir> unfinished(const Asked& asked);

// Returns the newest replay of the same question, with at least as many proof units, whose verdict is
// identical.
std::optional<core::ReplayDir> answered(const Asked& asked);

// Returns the newest replay of the same question in which a proof contradicted probes.
std::optional<core::ReplayDir> contradicted(const Asked& asked);

// Links into the replay, which has no plan yet, the unit files of earlier replays that give the same rows, do
// not differ from the record, and are not contradicted by a proof. Returns how many units the replay then
// has.
std::size_t adopt_units(const Asked& asked, const core::ReplayDir& replay);

// Cuts the missing units into segments for `workers` workers, and publishes the plan of the replay durably.
// `may_grow`: workers may come later, because the user gave no number. If the replay has a plan already,
// returns that one.
core::Plan publish(const Asked& asked, const core::ReplayDir& replay, std::size_t workers,
                   bool may_grow = false);

using results::units_done;

}  // namespace flor::commands
