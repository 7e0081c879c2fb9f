// Compares two trees of statements.
#pragma once

#include <vector>

#include "probes/cxx/tree.h"

namespace flor::probes {

enum class EditKind {
  // The whole node `present`.
  kAdded,
  // The whole node `recorded`.
  kRemoved,
  // The skip block `recorded` is now `present`, with another name.
  kRenamed,
  // The lists below these nodes differ too much to compare.
  kTooMany
};

struct Edit {
  EditKind kind;
  int recorded = -1, present = -1;
  // In the present file: where it is, or where it was removed.
  int line = 0;
  // Tokens that were added inside a statement, or removed from inside one. Both 0: the whole node.
  size_t begin = 0, end = 0;
};

// Replaces the edit of a statement by edits inside it, if only whole statements were added to, or removed
// from, its braces (the body of a lambda). Keeps other edits.
std::vector<Edit> within_statements(const Tree& recorded, const Tree& present, std::vector<Edit> edits);

// Returns few edits that turn `recorded` into `present`, in order of the text. Compares lists of statements
// level by level, and pairs compounds with equal heads, so a statement never pairs with one of another
// compound. If several scripts are shortest, returns any; each is true.
std::vector<Edit> diff(const Tree& recorded, const Tree& present);

}  // namespace flor::probes
