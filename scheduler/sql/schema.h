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
//
// SQLite compares their names without regard to case. Were the first loop to keep a name, a run of another
// user with a loop EPOCH could hide this user's loop epoch from `WHERE epoch = 2`. So a loop of this user's
// runs has its name, whoever was first: a column that only other users' runs have gives way to it.
class LoopColumns {
 public:
  // `foreign`: for a run of another user. Such a run may add 50 columns, and all of them together 500, so
  // that none of them takes the columns of this user's runs.
  explicit LoopColumns(Database& database, bool foreign = false);
  // Returns the column of a loop. Adds it, and renews the view, where the loop is new. Throws TooManyLoops,
  // also where another user's loop has a name of more than 256 bytes. Columns of runs that are gone stay
  // taken. For a run of this user the column keeps its name from now on.
  const std::string& of(const std::string& loop);

 private:
  struct Column {
    std::string name;
    // A run of this user has the loop.
    bool is_own = false;
  };

  void add(const std::string& loop);
  // Other users' runs have had the loop until now.
  void make_own(const std::string& loop);
  // Returns the name for the loop's column: LOOP, else loop.LOOP, or other.LOOP for one that only other
  // users' runs have. Such columns take no name from a loop of this user.
  std::string free_name(const std::string& loop, bool foreign) const;
  // Renames the column of this name if only other users' runs have it.
  void make_way(const std::string& column);
  void rename(const std::string& loop, const std::string& column);
  void renew_view();

  Database& database_;
  bool foreign_ = false;
  std::size_t most_ = 0;
  std::map<std::string, Column> columns_;
};

}  // namespace flor::sql
