// What a program's blocks and its main loop change and no checkpoint holds: read from its sources, told at
// record, by `flor show` and by `flor check --complete`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands/sources/source_files.h"
#include "core/base/json.h"
#include "probes/flow/held.h"

namespace flor::commands {

std::vector<probes::Unheld> unheld_in(const SourceFiles& sources);

// The name without what the analysis adds to it: "net" of "net.(parameters)".
std::string plain_name(const std::string& name);

// "block train changes meter (train.cpp:41) and does not hold it: a later question about it executes the
// block"; one line for each variable of a block or of the main loop alone.
std::vector<std::string> describe(const std::vector<probes::Unheld>& all);

// The same; of more than ten lines the first ten, and how many more `flor show RUN` lists.
std::vector<std::string> warnings_of(const std::vector<probes::Unheld>& all, const std::string& run);

core::Json to_json(const std::vector<probes::Unheld>& all);

// To stderr, in one write.
void warn_of_unheld(const SourceFiles& sources, const std::string& run);

// For a program that is about to start: warns, in a process of its own which ends after two seconds at the
// latest. False where the program names no sources: its interpreter's child may.
bool warn_before_start(const std::filesystem::path& program, const std::string& run);

}  // namespace flor::commands
