// The rows of a run as `flor log` prints them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/manifest.h"
#include "results/rows.h"

namespace flor::results {

// One object a line: name, value, the loop path as columns. No `@` columns; values exact.
std::string as_jsonl(const std::vector<Row>& rows);

// One line per loop path, names as columns, in the order of first appearance. Two equal names in one loop
// path take two lines. Values exact (csv) or shortened and aligned (table).
std::string as_csv(const std::vector<Row>& rows);
std::string as_table(const std::vector<Row>& rows);

// Rows of these names (all when empty) whose main loop value lies in [begin, end); rows outside of the main
// loop only when neither is given.
struct Selection {
  std::vector<std::string> names;
  std::optional<int64_t> begin, end;
};
std::vector<Row> selected(std::vector<Row> rows, const core::Manifest& manifest, const Selection& selection);

// Throws core::UsageError naming a name that none of all rows has.
void require_names(const std::vector<Row>& rows, const std::vector<std::string>& names);

}  // namespace flor::results
