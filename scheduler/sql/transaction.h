// A transaction of SQLite: all or nothing. What is not committed is taken back.
#pragma once

#include <exception>

#include "sql/database.h"

namespace flor::sql {

class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }
  ~Transaction() {
    if (open_) try {
        database_.execute("ROLLBACK");
      } catch (const std::exception&) {  // SQLite took it back by itself
      }
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() {
    database_.execute("COMMIT");
    open_ = false;
  }

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace flor::sql
