// Comma-separated values (RFC 4180), as spreadsheets and data frames read them. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "results/report/table.h"

namespace flor::results {

// Returns a value exactly; a text without quotes.
std::string csv_value(const core::Json& value);

// Returns one line, with its end.
std::string csv_line(const std::vector<std::string>& cells);
// The same for a line of so many columns most of whose cells are empty.
std::string csv_line(const Cells& cells, std::size_t columns);

}  // namespace flor::results
