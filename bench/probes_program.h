// A program of many files for bench/probes.cpp: what a training project of that size looks like.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "probes/probes.h"

namespace flor::bench {

struct ProgramPair {
  std::vector<probes::SourceFile> recorded, present;
};

// `core`: the files of a real program, the one with main() first. It is put among helper files (data sets,
// modules, meters, schedules, augmentations, text, training stages with blocks) that call each other, until
// there are `files` files of at least `lines` lines. `probes` log statements are added to the present ones,
// spread over all files. The same arguments give the same program.
ProgramPair make_program(const std::vector<probes::SourceFile>& core, std::size_t files, std::size_t lines,
                         std::size_t probes);

}  // namespace flor::bench
