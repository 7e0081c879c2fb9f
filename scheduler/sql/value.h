// A logged value in the columns of the index.
#pragma once

#include "core/base/json.h"
#include "sql/database.h"

namespace flor::sql {

// Binds `value` to the parameters `number` and `number` + 1: what SQLite computes with, and the value as it
// was logged where that says less. SQLite takes text for 0 in a sum, so whatever is no number and no text is
// NULL.
void bind_value(Statement& statement, int number, const core::Json& value);

}  // namespace flor::sql
