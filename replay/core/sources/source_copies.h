// Copies the sources of a recorded program into its run, and says by a digest which program it was.
#pragma once

#include "core/sources/sources.h"
#include "core/store/manifest.h"
#include "core/store/store.h"

namespace flor::core {

// The program that this process runs, also after its file was replaced or removed.
inline constexpr const char* running_program = "/proc/self/exe";

// Writes source/NNN-NAME for each file and adds it to the manifest. Where some sources are missing, also sets
// the manifest's digest of `program`. A copy is readable only for those who could read the file. Throws
// std::system_error where the copies cannot be written.
void copy_sources(const SourceScan& scan, const RunDir& run, Manifest& manifest,
                  const fs::path& program = running_program);

// Is `program` another one than the manifest's? Only a manifest without some of its sources has a digest to
// tell. A program that cannot be read, now or when it was recorded, counts as another one.
bool is_another_program(const Manifest& manifest, const fs::path& program = running_program);

}  // namespace flor::core
