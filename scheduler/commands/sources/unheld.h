// Finds, in a program's sources, variables that its blocks and its main loop change, but that no checkpoint
// holds. Recording, `flor show` and `flor check --complete` tell them to the user.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands/sources/source_files.h"
#include "core/base/json.h"
#include "probes/flow/held.h"

namespace flor::commands {

// Returns each variable once for each block, without those that another one covers. Returns none if the
// sources have no loop that the analysis knows.
std::vector<probes::Unheld> unheld_in(const SourceFiles& sources);

// Returns a name without the additions of the analysis: "net" for "net.(parameters)".
std::string plain_name(const std::string& name);

// Returns one line for each variable of a block, or of the main loop alone: "block train changes meter
// (train.cpp:41) and does not hold it: a later question about it executes the block".
std::vector<std::string> describe(const std::vector<probes::Unheld>& all);

// The same, but at most ten lines, and then how many more `flor show RUN` lists.
std::vector<std::string> warnings_of(const std::vector<probes::Unheld>& all, const std::string& run);

core::Json to_json(const std::vector<probes::Unheld>& all);

// Writes the warnings to stderr, in one write.
void warn_of_unheld(const SourceFiles& sources, const std::string& run);

// Writes the warnings for a program that is about to start. Analyses it in another process, for at most two
// seconds. Returns false if the program names no sources; a program that it starts may still name some.
bool warn_before_start(const std::filesystem::path& program, const std::string& run);

}  // namespace flor::commands
