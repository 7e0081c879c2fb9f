// The rows of a run as `flor log` prints them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/store/manifest.h"
#include "results/rows.h"

namespace flor::results {

// One object a line: name, value, the loop path as columns. No `@` columns; values exact.
std::string as_jsonl(const std::vector<Row>& rows);

// One line per loop path, names as columns, in the order of first appearance. Two equal names in one loop
// path take two lines. Values exact (csv) or shortened and aligned (table).
std::string as_csv(const std::vector<Row>& rows);
std::string as_table(const std::vector<Row>& rows);

// Rows of these names (all when empty) whose main loop value lies in one of the half-open ranges; where there
// are none all rows, those outside of the main loop as well.
struct Selection {
  using Range = std::pair<std::optional<int64_t>, std::optional<int64_t>>;
  std::vector<std::string> names;
  std::vector<Range> ranges;
};
std::vector<Row> selected(std::vector<Row> rows, const core::Manifest& manifest, const Selection& selection);

// Throws core::UsageError naming a name that none of all rows has.
void require_names(const std::vector<Row>& rows, const std::vector<std::string>& names);

}  // namespace flor::results
