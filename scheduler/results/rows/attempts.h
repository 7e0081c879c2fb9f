// Merges the logs of all attempts of a resumed recording, which follow each other in one file. Pure.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "results/rows/rows.h"

namespace flor::results {

// A part of the program that an attempt did not execute again. The rows of an earlier attempt count for it.
// It is one of three: a block, the first steps of an inner loop, or the first iterations of an outermost one.
struct KeptEvent {
  // Scope path of the block or of the inner loop. Empty: the event is about `loop`.
  std::string at;
  // The name of the outermost loop.
  std::string loop;
  // The first value that is not part of it any more. 0: `at` is a block.
  int64_t before = 0;
};

// One attempt, from its start to the point where it ended or was ended.
struct Attempt {
  // In order.
  std::vector<std::variant<Row, KeptEvent>> entries;
  // The program came to its end.
  bool ended = false;
};

// Returns the rows of the run in program order. Each attempt runs the program from its start, so its entries
// are in order, and KeptEvents stand where skipped work would. If the last attempt was itself ended early,
// rows that only earlier attempts reached follow its last row. With `steps`, throws core::Error where the
// attempts name more rows of earlier ones than that, and else subtracts how many they name: all other work
// grows with the length of the log alone.
std::vector<Row> spliced(std::vector<Attempt> attempts, std::size_t* steps = nullptr);

}  // namespace flor::results
