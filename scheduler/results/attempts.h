// One log out of those that the attempts of a resumed recording left behind each other in a file. Pure.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "results/rows.h"

namespace flor::results {

// What the attempt did not execute again: the rows of an earlier one stand for it.
struct KeptEvent {
  std::string at;      // a block's scope path, or, with `before`, that of a loop; empty:
  std::string loop;    // the iterations of this outermost loop
  int64_t before = 0;  // in front of this value
};

// From where it began to its end, or to where it was ended.
struct Attempt {
  std::vector<std::variant<Row, KeptEvent>> entries;  // in order
  bool ended = false;                                 // the program came to its end
};

// The rows of a run in program order. Each attempt runs the program from its start, so its entries are in
// that order, and what it did not execute is named where it would stand. Behind the last row of an attempt
// that was itself ended, the rows that only earlier ones had reached still stand.
std::vector<Row> spliced(std::vector<Attempt> attempts);

}  // namespace flor::results
