#include "sql/index.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "core/base/digest.h"
#include "core/base/shell_words.h"
#include "core/base/units_text.h"
#include "core/files/shared_directory.h"
#include "core/files/trusted_file.h"
#include "core/store/manifest.h"
#include "results/report/summary.h"
#include "results/results.h"
#include "results/rows/frame.h"
#include "sql/schema.h"
#include "sql/stamp.h"
#include "sql/value.h"

namespace flor::sql {
namespace {

using core::fs::path;

constexpr std::size_t most_statements = 100;
// Bytes of the rows of other users' runs, as they stand in their logs, that the index holds.
constexpr std::size_t most_foreign_bytes = std::size_t{512} << 20;

// All or nothing: what is not committed is taken back.
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

class OtherVersion : public Damaged {
 public:
  using Damaged::Damaged;
};

// Writes one run after the other.
class Writer {
 public:
  explicit Writer(Database& database, bool foreign = false)
      : database_(database), columns_(database, foreign) {}

  void forget(const std::string& run) {
    for (const char* text :
         {"DELETE FROM base_rows WHERE series IN (SELECT s.key FROM base_series s JOIN base_runs r "
          "ON r.key = s.run WHERE r.run = ?1)",
          "DELETE FROM base_series WHERE run = (SELECT key FROM base_runs WHERE run = ?1)",
          "DELETE FROM base_args WHERE run = (SELECT key FROM base_runs WHERE run = ?1)",
          "DELETE FROM base_runs WHERE run = ?1"}) {
      Statement(database_, text).bind(1, run).execute();
    }
  }

  void write(const core::RunDir& run, const core::Manifest& manifest, const std::string& stamp,
             const results::JoinedRows& joined) {
    const int64_t key = write_manifest(run, manifest, stamp, joined.foreign_bytes);
    std::map<std::string, int64_t> series;
    write_series(key, manifest, joined, series);
    int64_t position = 0;
    for (const auto& row : joined.rows) {
      const auto loops = results::scope_loops(row.at);
      Statement& insert = insert_into(loops);
      insert.bind(1, series.at(row.name)).bind(2, position++);
      bind_value(insert, 3, row.value);
      for (std::size_t i = 0; i < loops.size(); ++i) insert.bind(static_cast<int>(i) + 5, loops[i].second);
      insert.execute();
    }
  }

 private:
  int64_t new_key() {
    Statement key(database_, "SELECT last_insert_rowid()");
    key.step();
    return key.value(0);
  }

  int64_t write_manifest(const core::RunDir& run, const core::Manifest& manifest, const std::string& stamp,
                         std::size_t foreign_bytes) {
    Statement insert(database_,
                     "INSERT INTO base_runs(stamp, run, name, status, user, host, job, started, finished, "
                     "exit_code, command, cwd, loop, iterations, foreign_bytes) "
                     "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)");
    insert.bind(1, stamp).bind(2, run.id()).bind(3, manifest.name);
    insert.bind(4, results::status_of(run, manifest)).bind(5, manifest.user).bind(6, manifest.host);
    insert.bind(7, manifest.slurm_job).bind(8, manifest.started);
    if (manifest.finished) insert.bind(9, *manifest.finished);
    if (manifest.exit_code) insert.bind(10, static_cast<int64_t>(*manifest.exit_code));
    insert.bind(11, core::shell_line(manifest.command)).bind(12, manifest.cwd);
    if (const auto* loop = manifest.main_loop()) insert.bind(13, loop->name).bind(14, loop->iterations);
    insert.bind(15, static_cast<int64_t>(foreign_bytes));
    insert.execute();
    const int64_t key = new_key();
    Statement argument(database_, "INSERT INTO base_args VALUES(?1, ?2, ?3, ?3)");
    for (const auto& [name, value] : manifest.args)
      argument.bind(1, key).bind(2, name).bind(3, value).execute();
    return key;
  }

  void write_series(int64_t run, const core::Manifest& manifest, const results::JoinedRows& joined,
                    std::map<std::string, int64_t>& keys) {
    std::vector<std::string> names;
    std::set<std::string> known;
    for (const auto& row : joined.rows) {
      if (known.insert(row.name).second) names.push_back(row.name);
    }
    std::map<std::string, results::Coverage> covered;
    for (auto& one : results::coverage(joined.rows, manifest, names)) covered[one.name] = one;
    for (const auto& name : names) {
      Statement insert(database_,
                       "INSERT INTO base_series(run, name, recorded, iterations, \"of\") "
                       "VALUES(?1, ?2, ?3, ?4, ?5)");
      insert.bind(1, run).bind(2, name).bind(3, static_cast<int64_t>(joined.recorded.count(name)));
      if (const auto at = covered.find(name); at != covered.end())
        insert.bind(4, at->second.iterations).bind(5, at->second.of);
      insert.execute();
      keys[name] = new_key();
    }
  }

  // The statement for rows in these loops.
  Statement& insert_into(const std::vector<std::pair<std::string, int64_t>>& loops) {
    std::string key;
    for (const auto& [name, value] : loops) key += name + '/';
    // Rows of another user's run may stand in any loops, and a statement takes 12 kB.
    if (inserts_.size() >= most_statements && inserts_.count(key) == 0) inserts_.clear();
    auto& statement = inserts_[key];
    if (!statement) {
      std::string columns = "series, position, value, exact";
      std::string values = "?1, ?2, ?3, ?4";
      for (std::size_t i = 0; i < loops.size(); ++i) {
        columns += ", " + identifier(columns_.of(loops[i].first));
        values += ", ?" + std::to_string(i + 5);
      }
      statement = std::make_unique<Statement>(
          database_, "INSERT INTO base_rows(" + columns + ") VALUES(" + values + ")");
    }
    return *statement;
  }

  Database& database_;
  LoopColumns columns_;
  std::map<std::string, std::unique_ptr<Statement>> inserts_;
};

std::map<std::string, std::string> known_stamps(Database& database) {
  std::map<std::string, std::string> out;
  Statement all(database, "SELECT run, stamp FROM base_runs");
  while (all.step()) out[all.value(0)] = all.value(1).get<std::string>();
  return out;
}

void forget(Database& database, const std::string& run) {
  Transaction transaction(database);
  Writer(database).forget(run);
  transaction.commit();
}

void write(Database& database, const core::RunDir& run, const core::Manifest& manifest,
           const std::string& stamp, const results::JoinedRows& joined) {
  Transaction transaction(database);
  Writer writer(database, manifest.foreign);
  writer.forget(run.id());
  writer.write(run, manifest, stamp, joined);
  transaction.commit();
}

// The rows of other users' runs that the index holds, and what may be read now.
class ForeignBytes {
 public:
  ForeignBytes(Database& database, const core::Store& store) {
    Statement known(database, "SELECT run, foreign_bytes FROM base_runs WHERE foreign_bytes > 0");
    std::size_t held = 0;
    std::map<uid_t, std::size_t> held_of;
    while (known.step()) {
      const Held run{core::directory_owner(store.run(known.value(0)).path),
                     known.value(1).get<std::size_t>()};
      held += run.bytes;
      held_of[run.owner] += run.bytes;
      held_[known.value(0)] = run;
    }
    const auto left = [](std::size_t most, std::size_t held) { return most - std::min(held, most); };
    room_ = results::ForeignRows(left(most_foreign_bytes, held));
    for (const auto& [owner, bytes] : held_of) room_.limit(owner, left(most_foreign_bytes / 2, bytes));
  }

  // Reads a run that takes the place of what is held of it. Throws as results::read_joined().
  results::JoinedRows read(const core::RunDir& run, const core::Manifest& manifest) {
    if (!manifest.foreign) return results::read_joined(run, manifest);
    const auto known = held_.find(run.id());
    const Held before = known == held_.end() ? Held{} : known->second;
    const uid_t owner = core::directory_owner(run.path);
    room_.give_back(before.owner, before.bytes);
    results::ForeignRows now = rows_;
    now.limit(owner, room_.left(owner));
    const std::size_t most = now.left(owner);
    const auto taken = [&] { return most - now.left(owner); };
    try {
      auto out = results::read_joined(run, manifest, now);
      rows_.take(owner, taken());
      room_.take(owner, taken());
      return out;
    } catch (const results::ForeignRows::UsedUp&) {
      rows_.take(owner, taken());
      room_.take(before.owner, before.bytes);  // it is held on
      throw;
    } catch (const std::exception&) {
      rows_.take(owner, taken());
      throw;
    }
  }

 private:
  struct Held {
    uid_t owner = 0;
    std::size_t bytes = 0;
  };
  // What may be read now, and what the index may hold more. What a run gives back there was read before, and
  // so does not count for the former.
  results::ForeignRows rows_, room_;
  std::map<std::string, Held> held_;
};

// Reads a run that changed, in a transaction of its own. Throws ForeignRows::UsedUp where it stays as it was
// for that.
void renew(Database& database, const core::RunDir& run, const std::string& stamp, ForeignBytes& foreign,
           Refreshed& out) {
  std::optional<core::Manifest> manifest;
  results::JoinedRows joined;
  try {
    manifest = core::read_manifest_and_progress(run);
    joined = foreign.read(run, *manifest);
  } catch (const results::ForeignRows::UsedUp&) {
    throw;
  } catch (const std::exception& problem) {
    out.warnings.push_back("run " + run.id() + " is left out: " + problem.what());
    return forget(database, run.id());
  }
  try {
    // Where a file server failed, what it hid must be read the next time.
    write(database, run, *manifest, joined.has_all_replays ? stamp : "", joined);
  } catch (const TooManyLoops& problem) {
    out.lacked_columns = out.lacked_columns || problem.is_full();
    out.warnings.push_back("run " + run.id() + " is left out: " + problem.what());
    return forget(database, run.id());
  } catch (const Damaged&) {
    throw;
  } catch (const core::Error& problem) {
    if (!manifest->foreign) throw;
    out.warnings.push_back("run " + run.id() + " is left out: " + problem.what());
    return forget(database, run.id());
  }
  ++out.runs;
  out.rows += joined.rows.size();
  out.warnings.insert(out.warnings.end(), joined.warnings.begin(), joined.warnings.end());
}

void tell_left_out(std::size_t count, Refreshed& out) {
  if (count == 0) return;
  out.warnings.push_back(core::counted(count, "run") + " of other users " + (count == 1 ? "is" : "are") +
                         " left out, or as before: of the rows of such runs no more than " +
                         core::bytes_text(core::foreign_rows_together) + " are read at once, and " +
                         core::bytes_text(most_foreign_bytes) + " kept, half of it of one user");
}

// Returns std::nullopt where runs have gone and a run lacked their columns: the index must be made anew.
std::optional<Refreshed> refresh_once(const path& file, const core::Store& store) {
  Database database(file, Database::Access::write);
  // Pages that a crash of the machine left unwritten would be older than others, and nothing would tell.
  database.execute("PRAGMA synchronous = FULL; PRAGMA mmap_size = 0; PRAGMA cache_size = -65536");
  {
    Transaction transaction(database);
    if (!has_schema(database)) throw OtherVersion(file.string() + " is an index of another version of flor");
    LoopColumns columns(database);
    transaction.commit();
  }
  auto known = known_stamps(database);
  Refreshed out;
  ForeignBytes foreign(database, store);
  std::size_t left_out = 0;
  for (const auto& run : store.runs()) {
    const std::string stamp = stamp_of(run);
    const auto before = known.find(run.id());
    const bool is_current = before != known.end() && !stamp.empty() && before->second == stamp;
    if (before != known.end()) known.erase(before);
    if (is_current) continue;
    try {
      renew(database, run, stamp, foreign, out);
    } catch (const results::ForeignRows::UsedUp&) {
      ++left_out;
    }
  }
  tell_left_out(left_out, out);
  for (const auto& [run, stamp] : known) forget(database, run);
  if (!known.empty() && out.lacked_columns) return std::nullopt;
  return out;
}

Refreshed made_anew(const path& file, const core::Store& store) {
  core::fs::remove(file);
  core::fs::remove(file.string() + "-journal");
  return refresh_once(file, store).value_or(Refreshed{});
}

}  // namespace

path index_file(const path& directory, const core::Store& store) {
  std::error_code ignored;
  const path whole = core::fs::weakly_canonical(store.path(), ignored);
  return directory /
         ("index-" + core::digest_of((whole.empty() ? store.path() : whole).string()) + ".sqlite");
}

Refreshed refresh(const path& file, const core::Store& store) {
  try {
    if (auto out = refresh_once(file, store)) return std::move(*out);
  } catch (const Damaged&) {
    return made_anew(file, store);
  }
  return made_anew(file, store);
}

}  // namespace flor::sql
