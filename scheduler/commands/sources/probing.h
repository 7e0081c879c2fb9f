// Which blocks a replay executes: the comparison of recorded and present sources, or what the user says
// instead.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/store/manifest.h"
#include "core/store/plan.h"
#include "core/store/store.h"
#include "plan/history.h"

namespace flor::commands {

struct Probing {
  plan::ExecutedBlocks executed;
  bool lead_in_all = false;  // what executes in front of a unit, too (core::Plan)
  std::set<std::string> lead_in;
  bool from_start =
      false;  // the program runs from its start in front of each unit, whatever the checkpoints are
  std::vector<std::string> whole_iterations;   // why no unit can begin inside of one; empty: units can
  std::map<std::string, std::string> renamed;  // blocks with a new name: that name → the recorded one
  std::vector<core::Probe> probes;
  std::vector<std::string> reasons;            // one line each
  std::map<std::string, std::string> program;  // what the program is: digests by file
};

// `wanted` as in --probe; `blocks`: all of the record. Reads the program file, today's sources and the copies
// in the run's directory. Throws core::UsageError for a block that the record does not have.
Probing probe(const core::RunDir& run, const core::Manifest& manifest, const std::filesystem::path& program,
              const std::vector<std::string>& command, const std::string& wanted,
              const std::set<std::string>& blocks);

}  // namespace flor::commands
