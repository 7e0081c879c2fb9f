// Finds the programs `flor` and `flor-agent`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace flor::core {

// Returns the directories that may hold the programs which belong to a library or program at `binary`: its
// own, and PREFIX/bin where its own is PREFIX/lib, PREFIX/lib64 or a directory in one of these. Pure. Other
// directories above do not count, since they may be anyone's: as /scratch above /scratch/ada/libflor.so.
std::vector<std::filesystem::path> directories_beside(const std::filesystem::path& binary);

// Returns the file that a line of /proc/PID/maps maps at `address`. Returns an empty path for any other line,
// and for a file that was removed. Pure.
std::filesystem::path mapped_file(const std::string& line, std::uintptr_t address);

// Returns the directory of the program `binary`, for FLOR_BIN. Returns an empty path where anyone could put
// another program there but root, this user, and those who could replace `binary`. `binary` is an absolute
// path without links.
std::filesystem::path safe_directory_of(const std::filesystem::path& binary);

// Returns the path of `flor` or `flor-agent`; empty where it is not found. Looks in FLOR_BIN; then beside
// libflor or this program, where no other user could have put it; then on PATH. Ignores relative directories:
// their meaning changes with the working directory, which may be another user's.
std::string find_tool(const std::string& name);

}  // namespace flor::core
