// Formats the rows of a run for `flor log`. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/store/manifest.h"
#include "results/report/table.h"
#include "results/rows/rows.h"

namespace flor::results {

// Writes one object per line: name, value, the loop path as columns. No `@` columns. Values are exact.
void write_jsonl(const std::vector<Row>& rows, const Write& write);

// Writes one line per loop path, with names as columns in order of first appearance. Two equal names in one
// loop path take two lines. Values are exact (csv), or shortened and aligned (table).
void write_csv(const std::vector<Row>& rows, const Write& write);
void write_table(const std::vector<Row>& rows, const Write& write);

// One run among several: its text in the column "run", its arguments as columns, and its rows.
struct RunRows {
  std::string run;
  std::vector<std::pair<std::string, std::string>> arguments;
  std::vector<Row> rows;
};
// The same formats with the columns of the run in front; a run without rows has one line of its arguments.
// write_jsonl() writes an argument as a number where that is the same text.
void write_jsonl(const std::vector<RunRows>& runs, const Write& write);
void write_csv(const std::vector<RunRows>& runs, const Write& write);
void write_table(const std::vector<RunRows>& runs, const Write& write);

// Selects rows with these names (all if empty) whose main loop value is in one of the half-open ranges.
// Without ranges: all rows, also those outside the main loop.
struct Selection {
  using Range = std::pair<std::optional<int64_t>, std::optional<int64_t>>;
  std::vector<std::string> names;
  std::vector<Range> ranges;
};
std::vector<Row> selected(std::vector<Row> rows, const core::Manifest& manifest, const Selection& selection);

// Throws core::UsageError naming a name that no row has.
void require_names(const std::vector<Row>& rows, const std::vector<std::string>& names);

}  // namespace flor::results
