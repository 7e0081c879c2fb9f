// Identifies a question by a digest, so that `flor replay` finds an earlier replay of the same question.
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

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

}  // namespace flor::plan
