// The units of a run, which are ranges of main-loop iterations between consecutive restorable points: makes
// them, selects those that a question is about, and decides which of them prove the answer
// (core/store/proof.h; docs/semantics.md, rule 19a). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/config/values.h"
#include "core/store/plan.h"
#include "core/store/proof.h"
#include "core/store/timeline.h"
#include "plan/history.h"

namespace flor::plan {

// Returns the units of a run, in order. A complete run has a boundary after each iteration with a durable
// iteration checkpoint. A partial run has one after each iteration whose top-level block executions all have
// checkpoints. With `inside`, a complete run also has boundaries at step checkpoints inside of an iteration
// that can be entered. Ids are positions and depend only on the record, so they are the same in every replay
// of the run.
std::vector<core::Unit> units_of(const History& history, bool complete, bool inside = false);
std::vector<core::Unit> units_of(const core::Manifest& manifest, const core::Timeline& timeline,
                                 const RestoreCosts& costs);

// Sets the work of each unit of the run: what executes, what is restored on the way, and the restore of its
// entry. Every unit starts from recorded state, also directly after its neighbour.
void set_work(std::vector<core::Unit>& units, const History& history, const ExecutedBlocks& executed);

// Fills `proofs` and `brief` of the plan. `wanted` is the value of --prove: none, all, a number, brief, or
// auto. auto: as many as cost at most 2 % of the recorded time, at least one, and a brief one if a whole one
// would take more than ten minutes longer. No proofs if no row depends on a skipped block or restored state.
// Throws UsageError.
void ask_for_proofs(core::Plan& plan, const std::string& wanted);

// Where no block executes, the first proof lies at the program's start (choose()). There nothing is restored,
// so this proof cannot find what restoring leaves stale. Adds a second one for a place where a worker begins
// by restoring: where segments were cut, or in the middle where workers may come later (`may_grow`). Changes
// nothing where the plan has another number of proofs than one, or a brief one. Call it when the segments are
// known.
void prove_a_cut(core::Plan& plan, bool may_grow);

// The names of rows of probes that can be proved.
struct ProbeRows {
  // By selected unit.
  std::map<int64_t, std::set<std::string>> units;
  // Of these: those after the main loop, in the last unit.
  std::set<std::string> behind_loop;
};

// Adds the probes without any row to every selected unit. Motivation: the condition or container that kept
// them silent may itself be stale, so any unit may show it. A probe whose name is no literal counts as
// silent: its rows cannot be recognised.
void add_silent(ProbeRows& rows, const core::Plan& plan);

// Returns the units that proof slot `slot` (0, 1, …) executes: a selected unit, and the unit before it if
// there is one. Takes the selected unit whose proof has most names that `earlier`, the proofs of the slots
// before it, do not cover. Ties, in this order: a unit with one before it; a unit at which a segment begins
// (for slot 0 only if some block executes); for slot 0 the second selected unit, for others the one nearest
// to the slot's share of the selection. Returns no units if there is nothing to prove.
core::Proof choose(const core::Plan& plan, const ProbeRows& rows, const std::vector<core::Proof>& earlier,
                   int64_t slot);

// Everything that decides which rows a replay yields.
struct Question {
  std::string run;
  // The attempt of the recording: a resumed one may have other units.
  int64_t attempt = 0;
  // Digest of the binary, and of each present source.
  std::map<std::string, std::string> program;
  std::vector<std::string> command;
  // The selected units. Not by their ids, which change with the checkpoints that the run has.
  std::vector<core::Unit> selected;
  bool execute_all = false;
  std::set<std::string> execute;
  bool any_device = false;
  // The inner loop of the plan: it decides what the units are.
  std::string inner{};
  // Units are entered by their checkpoints. Else the program runs from its start, and `lead_in_all` or
  // `lead_in` tell which blocks execute before a unit.
  bool complete = false;
  bool lead_in_all = false;
  std::set<std::string> lead_in{};
  // Plan::covers_end.
  bool covers_end = true;
};

// By this, `flor replay` finds an earlier replay of the same question.
std::string digest_of(const Question& question);

// Returns the digest without `selected`. Replays with equal recipes yield the same rows for the same unit.
std::string recipe_of(Question question);

// Selects units by flags: `--epochs 40:60`, `--epochs 3,7,20:30`, `--every 10`, `--steps 0:100`.
using LoopRange = core::ValueRange;  // in values of the main loop, or of an inner one

// Parses ranges. An empty text gives none, which selects everything. Throws UsageError, which shows the form
// of --`what`.
std::vector<LoopRange> parse_ranges(const std::string& text, const std::string& what = "epochs");

// Returns the range of values that the units cover: "0:12".
std::string range_of(const std::vector<core::Unit>& units);

// Returns the units that contain a value of one of the ranges; of these values only every `every`-th, counted
// from the start of the loop. Throws UsageError if a range is empty or outside the record, or if no unit is
// left.
core::UnitSet select(const std::vector<core::Unit>& units, const std::vector<LoopRange>& ranges,
                     int64_t every = 1);

// Returns those of `among` that contain a step of one of the ranges. Steps count from 0. Throws UsageError if
// none does.
core::UnitSet with_steps(const std::vector<core::Unit>& units, const core::UnitSet& among,
                         const std::vector<LoopRange>& ranges);

}  // namespace flor::plan
