// Programs of one block, in which a statement changes what a probe behind it may read.
#pragma once

#include <string>
#include <vector>

namespace flor::probes {

struct ChangedProgram {
  // In front of main(), in front of the main loop, in the block, and the argument of the probe.
  std::string types, variables, change, probe;
};

// Returns whether the block stays skipped. It holds the module `net` and its optimizer, nothing else.
bool stays_skipped(const ChangedProgram& of);
void expect_executed(const std::vector<ChangedProgram>& programs);
void expect_skipped(const std::vector<ChangedProgram>& programs);

}  // namespace flor::probes
