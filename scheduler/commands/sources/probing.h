// Decides which blocks a replay executes, by comparing recorded and present sources, or as the user says.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
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
  // All blocks, or these, execute also in the lead-in of a unit (core::Plan).
  bool lead_in_all = false;
  std::set<std::string> lead_in;
  // Each unit is entered by running the program from its start, even if there are checkpoints.
  bool from_start = false;
  // The reasons why no unit can begin inside of an iteration; empty if units can.
  std::vector<std::string> whole_iterations;
  std::map<std::string, std::string> renamed;  // new name of a block → its recorded name
  std::vector<core::Probe> probes;
  std::optional<std::set<std::string>> names;         // core::Plan::names
  std::vector<std::string> reasons;                   // one line each
  std::map<std::string, std::string> program;         // the digest of each file of the program
  std::map<std::string, std::string> executed_files;  // core::Plan::program
};

// `wanted` is the value of --probe, and `blocks` are all blocks of the record. Reads the program file, the
// present sources, and the copies in the run's directory. Throws core::UsageError if `wanted` names a block
// that the record does not have.
Probing probe(const core::RunDir& run, const core::Manifest& manifest, const std::filesystem::path& program,
              const std::vector<std::string>& command, const std::string& wanted,
              const std::set<std::string>& blocks);

}  // namespace flor::commands
