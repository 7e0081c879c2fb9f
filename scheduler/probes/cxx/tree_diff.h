// What was added to a tree of statements, and what was taken from it.
#pragma once

#include <vector>

#include "probes/cxx/tree.h"

namespace flor::probes {

enum class EditKind {
  kAdded,    // the node `present`, whole
  kRemoved,  // the node `recorded`, whole
  kRenamed,  // the skip block `recorded` is `present` now, under another name
  kTooMany   // the lists under these nodes differ too much to be compared
};

struct Edit {
  EditKind kind;
  int recorded = -1, present = -1;
  int line = 0;  // in the present file: where it is, or where it was taken from
  // Of what was added within a statement, or taken out of one: its tokens. Both 0: the whole node.
  size_t begin = 0, end = 0;
};

// Where a statement was changed by nothing but whole statements that were put into its braces (a lambda's
// body), or taken out of them, these are the edits instead of the statement. Edits that leave pairs as they
// are.
std::vector<Edit> within_statements(const Tree& recorded, const Tree& present, std::vector<Edit> edits);

// Turns `recorded` into `present` with few edits, in order of the text. Lists of statements are compared
// level by level, compounds with equal heads inside of each other, so a statement never pairs with one of
// another compound. Of several shortest scripts any may come; each is a true account of the change.
std::vector<Edit> diff(const Tree& recorded, const Tree& present);

}  // namespace flor::probes
