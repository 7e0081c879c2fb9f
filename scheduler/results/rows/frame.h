// The rows of a run as a data frame: which lines, and lines taken together (`flor log --where`, `--by`,
// `--agg`). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/store/manifest.h"
#include "results/rows/rows.h"
#include "results/rows/where.h"

namespace flor::results {

// Parses conditions that must all hold: "epoch >= 10 and loss > 2". Throws UsageError as parse_condition().
std::vector<Condition> parse_conditions(const std::string& text);

// Returns the rows in whose iterations all conditions hold. The name of a loop stands for its value. Any
// other name stands for what was logged in the row's iteration; else in the one around it, and so on. Where a
// name was logged there several times, one value must meet the condition. Throws UsageError if a name is no
// loop, and has no numbers.
std::vector<Row> rows_where(std::vector<Row> rows, const std::vector<Condition>& conditions);

// Returns one row for each iteration of `loop` and each name, in order of first appearance: the rows inside
// that iteration taken together. `function`: first, last, min, max, mean, sum or count. Rows outside of the
// loop are left out. min, max, mean and sum leave out values that are no numbers, and are NaN where one is
// NaN; min and max return the value as it was logged. Throws UsageError if no row lies in the loop.
std::vector<Row> aggregated(const std::vector<Row>& rows, const std::string& loop,
                            const std::string& function);

// How much of the main loop the rows of a name cover.
struct Coverage {
  std::string name;
  int64_t iterations = 0, of = 0;
};
// Returns it for each of `names`, of all rows of the run. A name that is logged outside of the main loop
// alone is left out.
std::vector<Coverage> coverage(const std::vector<Row>& rows, const core::Manifest& manifest,
                               const std::vector<std::string>& names);

}  // namespace flor::results
