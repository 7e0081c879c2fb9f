// Which present file is which recorded one?
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "probes/probes.h"

namespace flor::probes {

struct FilePairs {
  std::vector<std::pair<size_t, size_t>> pairs;  // (recorded, present), in order of the recorded files
  std::vector<size_t> ambiguous;  // recorded files with several equally good partners, or shared ones
  std::vector<size_t> missing;    // recorded files without a partner
  std::vector<size_t> fresh;      // present files without a partner
};

// By the longest common path suffix, at least the file's name; among equals, and for what is left, by
// content.
FilePairs pair_files(const std::vector<SourceFile>& recorded, const std::vector<SourceFile>& present);

// The last component of a path.
std::string base_name(const std::string& path);

}  // namespace flor::probes
