// The tables of the index, and the views that queries see. Each name that a run logged is a series; the rows
// of a series lie together.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sql/database.h"

namespace flor::sql {

// Creates the tables where the file is new. Returns false where it is of another version.
bool has_schema(Database& database);

class TooManyLoops : public core::Error {
 public:
  using Error::Error;
};

// The columns of loops in the table of rows.
class LoopColumns {
 public:
  explicit LoopColumns(Database& database);
  // Returns the column of a loop. Adds it, and renews the view, where the loop is new. Throws TooManyLoops.
  const std::string& of(const std::string& loop);

 private:
  void renew_view();

  Database& database_;
  std::map<std::string, std::string> columns_;
};

}  // namespace flor::sql
