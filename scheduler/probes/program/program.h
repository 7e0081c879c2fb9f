// All source files of one side, recorded or present, parsed.
#pragma once

#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "probes/cxx/tree.h"
#include "probes/probes.h"

namespace flor::probes {

struct Source {
  const SourceFile* file = nullptr;
  // Last component of its path.
  std::string name;
  // Anything but a translation unit.
  bool header = false;
  // A header of flor itself: compared as a whole, never parsed.
  bool library = false;
  // log(...) may be flor::log.
  bool unqualified_log = false;
  Tree tree;
};

using WordSet = std::unordered_set<std::string>;

struct Program {
  // In the order of the files.
  std::vector<Source> sources;
  // All words of all sources.
  WordSet words;
};

// Functions that compute gradients, and names that lead to the values of a gradient, directly or through
// others. Empty if the program names no gradient.
struct GradientNames {
  std::set<std::string> backward, values;
};
GradientNames gradient_names(const Program& program);

// Returns whether the file is …/flor/NAME.h of the library itself, included with quotes.
bool is_library(const SourceFile& file);

// Returns whether only a change of this file could matter. True if it contains, also in comments, no word
// used for blocks, logs, gradients or optimizers. Such a file need not be readable if it did not change.
bool irrelevant(const Source& source);

// Keeps pointers to the files. `known`: for each file the source that another program parsed from the same
// text, or null. Programs to be compared may share `texts`.
Program read_program(const std::vector<SourceFile>& files, const std::vector<const Source*>& known = {},
                     const std::shared_ptr<Texts>& texts = std::make_shared<Texts>());

}  // namespace flor::probes
