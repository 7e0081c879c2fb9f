// The corpus of edits in text files (corpus/README.md): programs, edits of them, and the answer that each
// must lead to.
#pragma once

#include <filesystem>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "probes/probes.h"

namespace flor::probes {

struct EditCase {
  std::string name, folder;
  bool wrong = false;  // some block must execute, or rows must be withheld; else blocks may stay skipped
  bool everything = false, from_start = false;
  std::set<std::string> execute, lead_in, withheld;
  std::vector<std::string> probes;
  std::vector<SourceFile> recorded, present;
};
inline void PrintTo(const EditCase& c, std::ostream* out) {
  *out << c.name;
}

// All cases below the folder. Throws where a file cannot be read or an edit does not fit its program.
std::vector<EditCase> read_edits(const std::filesystem::path& folder);

}  // namespace flor::probes
