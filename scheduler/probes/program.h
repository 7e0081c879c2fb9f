// All source files of one side, recorded or present, read and ready to be asked.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/probes/probes.h"
#include "scheduler/probes/tree.h"

namespace flor::probes {

struct Source {
  const SourceFile* file = nullptr;
  std::string name;              // the last component of its path
  bool header = false;           // anything but a translation unit
  bool library = false;          // a header of flor's own: compared as a whole, never read
  bool unqualified_log = false;  // log(...) may be flor::log
  Tree tree;
};

struct Program {
  std::vector<Source> sources;       // as the files were given
  std::set<std::string> words;       // all words of all sources
  std::set<std::string> free_words;  // those that a local variable could hide
  std::set<std::string> mutators;    // functions that step an optimizer or run backward, directly or not
  std::set<std::string> gradients;   // names that lead to a gradient's values
  std::set<std::string> backward;    // functions that compute gradients, directly or not
  std::set<std::pair<const Source*, int>> block_functions;  // the functions that hold blocks; −1: not clear

  // Is it certain that this function runs outside of all blocks that it does not hold itself? So it is for
  // main, and for the one function that holds all blocks.
  [[nodiscard]] bool callers_clear(const Source& source, int function) const;
};

// Can nothing in this file bear on the decision but its being changed? True where it has no word that blocks,
// logs, gradients or optimizers go by, also in its comments. Then an unchanged file need not be readable.
bool irrelevant(const Source& source);

// Keeps pointers to the files.
Program read_program(const std::vector<SourceFile>& files);

}  // namespace flor::probes
