// SQLite databases and statements that close themselves. Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/json.h"

struct sqlite3;
struct sqlite3_stmt;

namespace flor::sql {

// The file is damaged, or no database.
class Damaged : public core::Error {
 public:
  using Error::Error;
};

// One connection. All functions throw core::Error with the file and SQLite's message.
class Database {
 public:
  enum class Access { read, write };
  // `write` creates the file where it is missing. Another connection that writes is waited for, a minute
  // long.
  Database(const std::filesystem::path& file, Access access);

  // Executes statements separated by semicolons.
  void execute(const std::string& statements);
  // Refuses from now on whatever does more than read the tables of this file.
  void allow_only_reading();
  bool only_reads() const { return only_reads_; }

  sqlite3* handle() const { return handle_.get(); }
  [[noreturn]] void fail(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::string file_;
  std::unique_ptr<sqlite3, Close> handle_;
  bool only_reads_ = false;
};

// One prepared statement. Its database must outlive it.
class Statement {
 public:
  // Throws UsageError where `text` is no SQL, more than one statement, or not allowed.
  Statement(const Database& database, const std::string& text);

  // Binds the parameter ?N, counted from 1, until it is bound again.
  Statement& bind(int number, int64_t value);
  Statement& bind(int number, double value);
  Statement& bind(int number, std::string_view value);
  Statement& bind_null(int number);

  // Goes to the next row. Returns false behind the last one; the statement may then be executed again.
  bool step();
  // Executes a statement that returns no rows.
  void execute() {
    while (step()) {
    }
  }

  std::vector<std::string> columns() const;
  // The value of a column of the present row, counted from 0. A blob comes as text.
  core::Json value(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const;
  };
  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// Returns a name as SQL writes one of a column, in double quotes.
std::string identifier(std::string_view name);

}  // namespace flor::sql
