// The sources of a recorded Python program, and what a replay of an edited one must execute. Python's own
// parser compares them: the package `flor` brings the analysis (replay/python/flor/_edits.py).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/sources/sources.h"
#include "core/store/manifest.h"
#include "core/store/store.h"
#include "probes/probes.h"

namespace flor::commands {

// Is it a recording of a program that runs from its sources?
bool is_interpreted(const core::Manifest& manifest);

// Which present file stands for a recorded source: the script of the command for the recorded script; for
// what lay beside or below that, what lies beside or below the present one, if it is there; else the same
// path. `directory`: where the command is given. Touches only the file system's names.
std::filesystem::path present_path(const core::Manifest& manifest, const core::RecordedSource& source,
                                   const std::vector<std::string>& command,
                                   const std::filesystem::path& directory);

// Reads the present files that stand for the recorded sources.
core::SourceScan scan_interpreted(const core::Manifest& manifest, const std::vector<std::string>& command);

// Starts the interpreter, and returns what it finds. If it cannot compare, every block executes, and a reason
// says why.
probes::ProbeAnalysis compare_interpreted(const core::RunDir& run, const core::Manifest& manifest,
                                          const std::filesystem::path& interpreter,
                                          const std::vector<std::string>& command);

}  // namespace flor::commands
