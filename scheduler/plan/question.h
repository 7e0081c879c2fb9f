// What is asked of a run: which of its units (`--epochs 40:60`, `--epochs 3,7,20:30`, `--every 10`, `--steps
// 0:100`), and a digest by which `flor replay` finds an earlier replay of the same question. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/config/values.h"
#include "core/store/plan.h"

namespace flor::plan {

// Everything that decides which rows a replay yields.
struct Question {
  std::string run;
  // The attempt of the recording: a resumed one may have other units.
  int64_t attempt = 0;
  // Digest of the binary, and of each present source.
  std::map<std::string, std::string> program;
  std::vector<std::string> command;
  core::UnitSet selected;
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
};

std::string digest_of(const Question& question);

// Returns the digest without `selected`. Replays with equal recipes yield the same rows for the same unit.
std::string recipe_of(Question question);

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
