// Comma-separated values (RFC 4180), as spreadsheets and data frames read them. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"

namespace flor::results {

// Returns a value exactly; a text without quotes.
std::string csv_value(const core::Json& value);

// Returns one line, with its end.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace flor::results
