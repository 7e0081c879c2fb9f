// Where the package for Python lies, and how Flor gets into a Python program that names nothing of Flor's: by
// a sitecustomize.py in a folder of PYTHONPATH (replay/python/flor/_hook.py). Other programs do not look
// there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace flor::core {

// Returns the folder with flor/ and flor-hook/, in a build or an installation, that belongs to the first
// `flor` in these directories which has one. Empty if there is none. Ignores relative directories, and a
// folder where another user than those who can replace that `flor` could have put a file.
std::string python_folder(const std::vector<std::filesystem::path>& bins);

// Returns PYTHONPATH with the hook of such a folder in front.
std::string with_python_hook(const std::string& folder, const std::string& path);

// The value of PYTHONHASHSEED where the user set none. Python's own choice is another one for each process:
// then a set of texts has another order in a resumed recording or a replay, and so has what was made of it in
// front of the loop.
inline constexpr const char* hash_seed = "0";

// Returns the directories of a PATH.
std::vector<std::filesystem::path> directories_of(const std::string& path);

}  // namespace flor::core
