// Reads the sources of a run, of a program or of a folder for the analysis of probes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/sources/sources.h"
#include "core/store/manifest.h"
#include "core/store/store.h"
#include "probes/probes.h"

namespace flor::commands {

struct SourceFiles {
  std::vector<probes::SourceFile> files;
  std::vector<std::string> unresolved;  // translation units or quoted includes that were not found
};

// Reads the copies in the run's directory. A copy that cannot be read is unresolved.
SourceFiles recorded_sources(const core::RunDir& run, const core::Manifest& manifest);

SourceFiles present_sources(const core::SourceScan& scan);

// Compares both. If one side has no sources, everything counts as changed.
probes::ProbeAnalysis decide(const SourceFiles& recorded, const SourceFiles& present);

// Reads one file, or all C++ files below a folder, each with its path in that folder. Skips hidden folders
// and build folders. Throws core::UsageError if the path does not exist, or if the folder has no sources.
SourceFiles sources_at(const std::filesystem::path& path);

}  // namespace flor::commands
