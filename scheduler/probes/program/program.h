// All source files of one side, recorded or present, read and ready to be asked.
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
  std::string name;              // the last component of its path
  bool header = false;           // anything but a translation unit
  bool library = false;          // a header of flor's own: compared as a whole, never read
  bool unqualified_log = false;  // log(...) may be flor::log
  Tree tree;
};

using WordSet = std::unordered_set<std::string>;

struct Program {
  std::vector<Source> sources;  // as the files were given
  WordSet words;                // all words of all sources
};

// Functions that compute gradients, and names that lead to a gradient's values, directly or through others.
// Nothing where the program names no gradient.
struct GradientNames {
  std::set<std::string> backward, values;
};
GradientNames gradient_names(const Program& program);

// …/flor/NAME.h of the library itself, reached where a program writes "flor/flor.h" with quotes.
bool is_library(const SourceFile& file);

// Can nothing in this file bear on the analysis but its being changed? True where it has no word that blocks,
// logs, gradients or optimizers go by, also in its comments. Then an unchanged file need not be readable.
bool irrelevant(const Source& source);

// Keeps pointers to the files. `known`: of files that another program has, too, with the same text, what was
// read of them there; by position, null where there is none.
// Programs that are to be compared may share their texts.
Program read_program(const std::vector<SourceFile>& files, const std::vector<const Source*>& known = {},
                     const std::shared_ptr<Texts>& texts = std::make_shared<Texts>());

}  // namespace flor::probes
