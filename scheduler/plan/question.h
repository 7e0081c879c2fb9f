// "The same question": a digest by which an unfinished replay is recognised and gone on with. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/store/plan.h"

namespace flor::plan {

// All that decides which rows a replay yields.
struct Question {
  std::string run;
  int64_t attempt = 0;                         // of the recording: a resumed one may have other units
  std::map<std::string, std::string> program;  // digest of the binary, and of each present source
  std::vector<std::string> command;
  core::UnitSet selected;
  bool execute_all = false;
  std::set<std::string> execute;
  bool any_device = false;
  std::string inner{};    // the plan's: it decides what the units are
  bool complete = false;  // how units are entered, and what executes in front of them
  bool lead_in_all = false;
  std::set<std::string> lead_in{};
};

std::string digest_of(const Question& question);

// The same without `selected`: a unit's rows are the same in all replays that agree in it.
std::string recipe_of(Question question);

}  // namespace flor::plan
