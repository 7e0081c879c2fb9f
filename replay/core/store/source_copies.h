// The sources of a recorded program, as copies in its run.
#pragma once

#include "core/store/manifest.h"
#include "core/store/sources.h"
#include "core/store/store.h"

namespace flor::core {

// Writes source/NNN-NAME for each file, and names them in the manifest. Where some are missing, the
// manifest gets the digest of the program at `manifest.binary` as well. A copy can be read by no one who
// could not read the file by its mode. Throws std::system_error.
void copy_sources(const SourceScan& scan, const RunDir& run, Manifest& manifest);

}  // namespace flor::core
