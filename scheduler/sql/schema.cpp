#include "sql/schema.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace flor::sql {
namespace {

constexpr int64_t kVersion = 4;
// SQLite's own limit is 2,000 columns.
constexpr std::size_t kMostLoops = 1000;
// Of runs of other users: all of them, and those that one run adds.
constexpr std::size_t kMostForeign = 500;
constexpr std::size_t kMostOfOneForeign = 50;
// Bytes of the name of a loop of another user: each query reads the names of all columns.
constexpr std::size_t kLongestForeign = 256;

constexpr auto kTables = R"(
CREATE TABLE base_runs(key INTEGER PRIMARY KEY, stamp TEXT, run TEXT UNIQUE, name TEXT, status TEXT, user TEXT,
  host TEXT, job TEXT, started REAL, finished REAL, exit_code INTEGER, command TEXT, cwd TEXT, loop TEXT,
  iterations INTEGER, foreign_bytes INTEGER);
CREATE TABLE base_args(run INTEGER, name TEXT, value NUMERIC, text TEXT, PRIMARY KEY(run, name)) WITHOUT ROWID;
CREATE TABLE base_series(key INTEGER PRIMARY KEY, run INTEGER, name TEXT, recorded INTEGER, iterations INTEGER,
  "of" INTEGER, UNIQUE(run, name));
CREATE INDEX base_series_by_name ON base_series(name);
CREATE TABLE base_rows(series INTEGER, position INTEGER, value, exact TEXT, PRIMARY KEY(series, position))
  WITHOUT ROWID;
CREATE TABLE base_loops(name TEXT PRIMARY KEY, "column" TEXT UNIQUE, own INTEGER) WITHOUT ROWID;
CREATE TABLE base_tries(number INTEGER PRIMARY KEY, run TEXT UNIQUE, stamp TEXT, refusal TEXT);
CREATE VIEW runs AS SELECT run, name, status, user, host, job, started, finished, exit_code, command, cwd, loop,
  iterations FROM base_runs;
CREATE VIEW args AS SELECT r.run AS run, a.name AS name, a.value AS value, a.text AS text FROM base_args a
  JOIN base_runs r ON r.key = a.run;
CREATE VIEW coverage AS SELECT r.run AS run, s.name AS name, s.recorded AS recorded, s.iterations AS iterations,
  s."of" AS "of" FROM base_series s JOIN base_runs r ON r.key = s.run;
)";

// SQLite compares the names of columns without regard to case, of ASCII letters alone.
std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return c < 0x80 ? static_cast<char>(std::tolower(c)) : c; });
  return text;
}

}  // namespace

bool has_schema(Database& database) {
  Statement version(database, "PRAGMA user_version");
  version.step();
  const auto found = version.value(0).get<int64_t>();
  while (version.step()) {
  }
  if (found != 0) return found == kVersion;
  database.execute(kTables);
  database.execute("PRAGMA user_version = " + std::to_string(kVersion));
  return true;
}

LoopColumns::LoopColumns(Database& database, bool foreign) : database_(database), foreign_(foreign) {
  Statement all(database, "SELECT name, \"column\", own FROM base_loops");
  while (all.step()) columns_[all.value(0)] = {all.value(1).get<std::string>(), all.value(2) == 1};
  if (columns_.empty()) renew_view();
  most_ = foreign ? std::min(columns_.size() + kMostOfOneForeign, kMostForeign) : kMostLoops;
}

const std::string& LoopColumns::of(const std::string& loop) {
  const auto found = columns_.find(loop);
  if (found == columns_.end()) {
    add(loop);
  } else if (!foreign_ && !found->second.is_own) {
    make_own(loop);
  }
  return columns_.at(loop).name;
}

void LoopColumns::add(const std::string& loop) {
  if (columns_.size() >= most_) {
    throw TooManyLoops(most_ == kMostLoops
                           ? "the runs of this store have more than " + std::to_string(kMostLoops) + " loops"
                           : "it is another user's, and the index takes " +
                                 std::to_string(kMostOfOneForeign) + " loops of such a run, and " +
                                 std::to_string(kMostForeign) + " of all",
                       most_ == kMostLoops || most_ == kMostForeign);
  }
  if (foreign_ && loop.size() > kLongestForeign) {
    throw TooManyLoops("it is another user's, and the name of a loop of it has more than " +
                           std::to_string(kLongestForeign) + " bytes",
                       false);
  }
  const std::string column = free_name(loop, foreign_);
  if (!foreign_) make_way(column);
  database_.execute("ALTER TABLE base_rows ADD COLUMN " + identifier(column) + " INTEGER");
  Statement(database_, "INSERT INTO base_loops VALUES(?1, ?2, ?3)")
      .bind(1, loop)
      .bind(2, column)
      .bind(3, static_cast<int64_t>(!foreign_))
      .execute();
  columns_[loop] = {column, !foreign_};
  renew_view();
}

void LoopColumns::make_own(const std::string& loop) {
  const std::string column = free_name(loop, false);
  if (columns_.at(loop).name != column) {
    make_way(column);
    rename(loop, column);
  }
  Statement(database_, "UPDATE base_loops SET own = 1 WHERE name = ?1").bind(1, loop).execute();
  columns_[loop].is_own = true;
}

std::string LoopColumns::free_name(const std::string& loop, bool foreign) const {
  std::set<std::string> taken = {"run", "name", "position", "value", "exact", "series"};
  for (const auto& [name, column] : columns_) {
    if (foreign || column.is_own) taken.insert(lower(column.name));
  }
  std::string out = loop;
  while (taken.count(lower(out)) != 0) out.insert(0, foreign ? "other." : "loop.");
  return out;
}

void LoopColumns::make_way(const std::string& column) {
  for (const auto& [loop, known] : columns_) {
    if (!known.is_own && lower(known.name) == lower(column)) return rename(loop, free_name(loop, true));
  }
}

void LoopColumns::rename(const std::string& loop, const std::string& column) {
  std::string& known = columns_.at(loop).name;
  database_.execute("ALTER TABLE base_rows RENAME COLUMN " + identifier(known) + " TO " + identifier(column));
  Statement(database_, "UPDATE base_loops SET \"column\" = ?2 WHERE name = ?1")
      .bind(1, loop)
      .bind(2, column)
      .execute();
  known = column;
  renew_view();
}

void LoopColumns::renew_view() {
  std::string view = "DROP VIEW IF EXISTS log; CREATE VIEW log AS SELECT u.run AS run, s.name AS name, ";
  Statement ordered(database_, "SELECT name FROM pragma_table_info('base_rows') WHERE cid > 3 ORDER BY cid");
  while (ordered.step()) {
    const auto column = identifier(ordered.value(0).get<std::string>());
    view += "b." + column + " AS " + column + ", ";
  }
  database_.execute(view +
                    "b.position AS position, b.value AS value, b.exact AS exact FROM base_series s "
                    "JOIN base_runs u ON u.key = s.run JOIN base_rows b ON b.series = s.key");
}

}  // namespace flor::sql
