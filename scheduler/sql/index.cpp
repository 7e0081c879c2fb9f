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
#include "core/files/trusted_file.h"
#include "core/store/manifest.h"
#include "results/report/summary.h"
#include "results/results.h"
#include "results/rows/frame.h"
#include "sql/foreign_bytes.h"
#include "sql/schema.h"
#include "sql/stamp.h"
#include "sql/transaction.h"
#include "sql/tries.h"
#include "sql/value.h"

namespace flor::sql {
namespace {

using core::fs::path;

constexpr std::size_t most_statements = 100;

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

struct Held {
  std::string stamp, status;
};

std::map<std::string, Held> held_runs(Database& database) {
  std::map<std::string, Held> out;
  Statement all(database, "SELECT run, stamp, status FROM base_runs");
  while (all.step()) out[all.value(0)] = {all.value(1), all.value(2)};
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

// A run that changed, or is new, or could not be read.
struct Due {
  core::RunDir run;
  std::string stamp;
  // Tries::last_of().
  int64_t tried = 0;
};

// Reads such runs, each in a transaction of its own.
class Renewal {
 public:
  Renewal(Database& database, const core::Store& store, Tries& tries, Refreshed& out)
      : database_(database), foreign_(database, store), tries_(tries), out_(out) {}

  // Throws ForeignRows::UsedUp where the run stays as it was for that.
  void read(const Due& due) {
    const core::RunDir& run = due.run;
    std::optional<core::Manifest> manifest;
    results::JoinedRows joined;
    try {
      manifest = core::read_manifest_and_progress(run);
      joined = foreign_.read(run, *manifest);
    } catch (const ForeignBytes::LacksRoom&) {
      tries_.add(run.id());
      throw;
    } catch (const results::ForeignRows::UsedUp&) {
      throw;  // its turn comes early the next time
    } catch (const results::ForeignRows::TooLarge& problem) {
      return leave_out(run, problem, due.stamp, true);
    } catch (const std::exception& problem) {
      return leave_out(run, problem, "", !manifest || manifest->foreign);
    }
    try {
      // Where a file server failed, what it hid must be read the next time.
      write(database_, run, *manifest, joined.has_all_replays ? due.stamp : "", joined);
    } catch (const TooManyLoops& problem) {
      out_.lacked_columns = out_.lacked_columns || problem.is_full();
      return leave_out(run, problem, "", manifest->foreign);
    } catch (const Damaged&) {
      throw;
    } catch (const core::Error& problem) {
      if (!manifest->foreign) throw;
      return leave_out(run, problem, "", true);
    }
    if (manifest->foreign) tries_.add(run.id());
    ++out_.runs;
    out_.rows += joined.rows.size();
    out_.warnings.insert(out_.warnings.end(), joined.warnings.begin(), joined.warnings.end());
  }

 private:
  // `stamp`: with which it is not tried again.
  void leave_out(const core::RunDir& run, const std::exception& problem, const std::string& stamp,
                 bool foreign) {
    const std::string why = "run " + run.id() + " is left out: " + problem.what();
    out_.warnings.push_back(why);
    if (foreign) tries_.refuse(run.id(), stamp, why);
    forget(database_, run.id());
  }

  Database& database_;
  ForeignBytes foreign_;
  Tries& tries_;
  Refreshed& out_;
};

// A process that records may have ended without changing a file.
void renew_status(Database& database, const core::RunDir& run, const core::Manifest& manifest,
                  const std::string& before) {
  const std::string status = results::status_of(run, manifest);
  if (status == before) return;
  Statement(database, "UPDATE base_runs SET status = ?2 WHERE run = ?1")
      .bind(1, run.id())
      .bind(2, status)
      .execute();
}

void tell_left_out(std::size_t count, Refreshed& out) {
  if (count == 0) return;
  out.warnings.push_back(core::counted(count, "run") + " of other users " + (count == 1 ? "is" : "are") +
                         " left out, or as before: of the rows of such runs no more than " +
                         core::bytes_text(core::foreign_rows_together) + " are read at once, and " +
                         core::bytes_text(most_foreign_bytes) + " kept, half of it of one user");
}

// Returns the runs to read: those first that were never tried, then those whose last try is longest ago.
// Renews the status of those that are recorded and did not change. Leaves those in `held` that are gone, and
// puts the ids of all others into `there`.
std::vector<Due> due_runs(Database& database, const core::Store& store, const Tries& tries,
                          std::map<std::string, Held>& held, std::set<std::string>& there, Refreshed& out) {
  std::vector<Due> due;
  for (const auto& run : store.runs()) {
    there.insert(run.id());
    const Stamp stamp = stamp_of(run);
    const auto known = held.extract(run.id());
    if (!known.empty() && !stamp.text.empty() && known.mapped().stamp == stamp.text) {
      if (stamp.recording) renew_status(database, run, *stamp.recording, known.mapped().status);
    } else if (const auto refusal = tries.refusal_of(run.id(), stamp.text)) {
      out.warnings.push_back(*refusal);
    } else {
      due.push_back({run, stamp.text, tries.last_of(run.id())});
    }
  }
  std::stable_sort(due.begin(), due.end(), [](const Due& a, const Due& b) { return a.tried < b.tried; });
  return due;
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
  auto held = held_runs(database);
  Refreshed out;
  Tries tries(database);
  std::set<std::string> there;
  const std::vector<Due> due = due_runs(database, store, tries, held, there, out);
  Renewal renewal(database, store, tries, out);
  std::size_t left_out = 0;
  for (const auto& one : due) try {
      renewal.read(one);
    } catch (const results::ForeignRows::UsedUp&) {
      ++left_out;
    }
  tell_left_out(left_out, out);
  tries.save(there);
  for (const auto& [run, known] : held) forget(database, run);
  if (!held.empty() && out.lacked_columns) return std::nullopt;
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
