// Finds the source files that a program was built from, without running the program (docs/semantics.md, rule
// 17).
//
// <flor/flor.h> leaves the name of every translation unit that includes it in the ELF section `flor_sources`.
// Units that do not include it are found by the symbol table, where they lie around these. The includes that
// all of them reach are added; of those in angle brackets the ones that lie in the project. Only files that
// root, this user or those who made the program alone could have put there are read (safe_path.h).
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace flor::core {

// Who besides its owner can read a file, by its mode and those of the directories above it.
struct Readers {
  gid_t group_id = 0;
  bool group = false;
  bool others = false;
};

struct SourceText {
  // Absolute.
  std::string path;
  std::string text;
  bool newer_than_binary = false;
  Readers readers;
  bool interpreted = false;  // by add_sources()
};

struct SourceScan {
  std::vector<SourceText> files;
  // Translation units that name themselves, or quoted includes, that were not found. If the scan failed, also
  // the reason.
  std::vector<std::string> unresolved;
  // Paths where another user could have put a file; they are unresolved, too.
  std::vector<std::string> withheld;
};

// Never throws. Returns an empty scan for a program without the section, or that is not an ELF file.
SourceScan scan_sources(const std::filesystem::path& binary);

// Adds source files of an interpreted program, which its front end names. One that another user could have
// put there is withheld, and one that cannot be read is unresolved. Throws nothing but std::bad_alloc.
void add_sources(const std::vector<std::string>& paths, SourceScan& scan);

// Returns the names of translation units in an ELF image, as the compiler was given them.
std::vector<std::string> translation_units(const std::string& image);

struct Include {
  // Empty where a macro stands for it.
  std::string name;
  // Else in angle brackets.
  bool is_quoted = false;
};

// Returns the includes of a source text, in order. Skips comments.
std::vector<Include> includes_of(const std::string& text);

}  // namespace flor::core
