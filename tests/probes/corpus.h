// The corpus: edits of programs and the decisions that they must lead to.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "probes/probes.h"

namespace flor::probes {

// Replaces the one place of a text that reads `from`.
struct Replacement {
  std::string from, to;
};

struct Case {
  std::string name;
  std::vector<SourceFile> recorded, present;
  std::vector<std::string> unresolved_recorded, unresolved_present;
  bool all = false;
  std::vector<std::string> blocks;  // sorted; not compared where all execute
  std::vector<std::string> logs;    // "name@block", in order
  std::string reason;               // must be part of one of the reasons
};
inline void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

// What is expected of an edit.
struct Expected {
  bool all = false;
  std::vector<std::string> blocks;
  std::vector<std::string> logs;
  std::string reason;
};
Expected everything(std::string reason, std::vector<std::string> logs = {});
Expected executes(std::vector<std::string> blocks, std::vector<std::string> logs = {},
                  std::string reason = "");
Expected nothing(std::vector<std::string> logs = {}, std::string reason = "");

// One program, in two files: train.cpp and model.h.
const std::string& train_cpp();
const std::string& model_h();

// Places of train.cpp to insert code at: these lines are in it, once each.
extern const char* const kBeforeLoop;   // in main, in front of the loop
extern const char* const kLoopTop;      // first in an iteration
extern const char* const kInTrain;      // in block train, in its loop over batches
extern const char* const kInInner;      // in block inner, nested in train
extern const char* const kBehindTrain;  // in an iteration, behind block train
extern const char* const kInCondition;  // in an `if` outside of blocks
extern const char* const kBehindLoop;   // in main, behind the loop

std::string edit(std::string text, const std::vector<Replacement>& changes);
// The place's line with the code behind it.
Replacement insert(const std::string& place, const std::string& code);
// train.cpp with changes; model.h as it was.
Case edited(std::string name, const std::vector<Replacement>& changes, Expected expected);
// A program of one file.
Case program(std::string name, const std::string& recorded, const std::string& present, Expected expected);

std::vector<Case> log_cases();
std::vector<Case> edit_cases();
std::vector<Case> shape_cases();
std::vector<Case> file_cases();

}  // namespace flor::probes
