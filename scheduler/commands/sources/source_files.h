// The sources of a program as the analysis of probes takes them: those of a run, of a program, of a folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/store/manifest.h"
#include "core/store/sources.h"
#include "core/store/store.h"
#include "probes/probes.h"

namespace flor::commands {

struct SourceFiles {
  std::vector<probes::SourceFile> files;
  std::vector<std::string> unresolved;  // translation units or quoted includes that were not found
};

// The copies in the run's directory. A copy that is gone is unresolved.
SourceFiles recorded_sources(const core::RunDir& run, const core::Manifest& manifest);

SourceFiles present_sources(const core::SourceScan& scan);

// Compares both. Takes everything for changed where one side has no sources.
probes::ProbeAnalysis decide(const SourceFiles& recorded, const SourceFiles& present);

// One file, or all C++ files below a folder, each with its path in there. Hidden folders and build folders
// are left out. Throws core::UsageError for a path that does not exist and for a folder without sources.
SourceFiles sources_at(const std::filesystem::path& path);

}  // namespace flor::commands
