// The tables of the index, and the views that queries see. Each name that a run logged is a series; the rows
// of a series lie together.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "sql/database.h"

namespace flor::sql {

// Creates the tables where the file is new. Returns false where it is of another version.
bool has_schema(Database& database);

class TooManyLoops : public core::Error {
 public:
  TooManyLoops(const std::string& what, bool full) : Error(what), full_(full) {}
  // The run would have a column if others had none.
  bool is_full() const { return full_; }

 private:
  bool full_;
};

// The columns of loops in the table of rows.
class LoopColumns {
 public:
  // `foreign`: for a run of another user. Such a run may add 50 columns, and all of them together 500, so
  // that none of them takes the columns of this user's runs.
  explicit LoopColumns(Database& database, bool foreign = false);
  // Returns the column of a loop. Adds it, and renews the view, where the loop is new. Throws TooManyLoops.
  // Columns of runs that are gone stay taken.
  const std::string& of(const std::string& loop);

 private:
  void renew_view();

  Database& database_;
  std::size_t most_ = 0;
  std::map<std::string, std::string> columns_;
};

}  // namespace flor::sql
