// Copies the sources of a recorded program into its run.
#pragma once

#include "core/store/manifest.h"
#include "core/store/sources.h"
#include "core/store/store.h"

namespace flor::core {

// Writes source/NNN-NAME for each file and adds it to the manifest. Where some sources are missing, also sets
// the manifest's digest of the program at `manifest.binary`. A copy is readable only for those who could read
// the file by its mode. Throws std::system_error; also Error where the program cannot be read.
void copy_sources(const SourceScan& scan, const RunDir& run, Manifest& manifest);

}  // namespace flor::core
