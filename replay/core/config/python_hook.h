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

// Returns the directories of a PATH.
std::vector<std::filesystem::path> directories_of(const std::string& path);

}  // namespace flor::core
