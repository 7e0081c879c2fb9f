// Reads what the ELF image of a program says about its sources. Pure. Format: elf(5).
#pragma once

#include <string>
#include <vector>

namespace flor::core {

// Returns the bytes of the section of that name; empty where a 64-bit image has none, or for any other text.
std::string elf_section(const std::string& image, const std::string& name);

// Returns the names of the source files in the symbol table, as the compiler left them: file names without
// directories, also of files that know nothing of Flor. Empty for a stripped program.
std::vector<std::string> elf_source_files(const std::string& image);

}  // namespace flor::core
