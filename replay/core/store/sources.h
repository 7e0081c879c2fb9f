// Which source files a program was built from, read from the program without running it.
//
// <flor/flor.h> leaves the name of every translation unit that includes it in the ELF section `flor_sources`;
// with them go the quoted includes that they reach. Only files that no one but root, this user and the
// program's owner could have put there are read (safe_path.h).
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace flor::core {

struct SourceText {
  std::string path;  // absolute
  std::string text;
  bool newer_than_binary = false;
  mode_t mode = 0644;
};

struct SourceScan {
  std::vector<SourceText> files;
  std::vector<std::string> unresolved;  // translation units or quoted includes that were not found
  std::vector<std::string> withheld;  // paths at which another user could have put a file; unresolved as well
};

// A program without the section, or that is no ELF file, gives an empty scan. Never throws.
SourceScan scan_sources(const std::filesystem::path& binary);

// The translation units named in an ELF image, as the compiler was given them.
std::vector<std::string> translation_units(const std::string& image);

// The names of the quoted includes of a source text, in order. Comments are skipped.
std::vector<std::string> quoted_includes(const std::string& text);

}  // namespace flor::core
