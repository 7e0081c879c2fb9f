// Pairs recorded source files with present ones.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "probes/probes.h"

namespace flor::probes {

struct FilePairs {
  // (recorded, present), in order of the recorded files.
  std::vector<std::pair<size_t, size_t>> pairs;
  // Recorded files with several equally good partners, or with a shared one.
  std::vector<size_t> ambiguous;
  std::vector<size_t> missing;  // recorded files without a partner
  std::vector<size_t> fresh;    // present files without a partner
};

// Pairs by the longest common path suffix, at least the file name. Ties, and files left over, are paired by
// content.
FilePairs pair_files(const std::vector<SourceFile>& recorded, const std::vector<SourceFile>& present);

// Returns the last component of a path.
std::string base_name(const std::string& path);

}  // namespace flor::probes
