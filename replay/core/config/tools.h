// Where the programs `flor` and `flor-agent` are found.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace flor::core {

// The directories that may hold the programs which belong to a library or program at `binary`: its own, and
// PREFIX/bin where its own is PREFIX/lib, PREFIX/lib64 or a directory in one of these. Pure. Motivation: the
// directory above may be anyone's, as /scratch is that holds /scratch/ada/libflor.so.
std::vector<std::filesystem::path> directories_beside(const std::filesystem::path& binary);

// The file that a line of /proc/PID/maps maps to memory at `address`; empty for any other line, and for a
// file that was removed. Pure.
std::filesystem::path mapped_file(const std::string& line, std::uintptr_t address);

// The path of `flor`, `flor-agent`: in FLOR_BIN; else beside libflor or this program, where no other user
// could have put it; else on PATH. Empty if nowhere. A relative directory counts in none of these: what it
// means changes with the working directory, which may be another user's.
std::string find_tool(const std::string& name);

}  // namespace flor::core
