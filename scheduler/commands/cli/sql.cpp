// flor sql: queries over the runs of a store.
#include <unistd.h>

#include <memory>
#include <set>

#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/cli/commands.h"
#include "core/base/error.h"
#include "core/files/private_directory.h"
#include "results/report/csv.h"
#include "results/report/table.h"
#include "sql/index.h"

namespace flor::commands {
namespace {

namespace fs = std::filesystem;
using core::Json;

struct Flags {
  std::string query, format, index, store;
};

constexpr std::size_t kPrintEvery = 1 << 16;

std::vector<Json> values_of(const sql::Statement& row, std::size_t columns) {
  std::vector<Json> out(columns);
  for (std::size_t i = 0; i < columns; ++i) out[i] = row.value(static_cast<int>(i));
  return out;
}

// One text for each value, made by `format`; none for NULL.
template <class Format>
std::vector<std::string> cells_of(const std::vector<Json>& values, Format format) {
  std::vector<std::string> out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = values[i].is_null() ? "" : format(values[i]);
  return out;
}

void print_table(sql::Statement& rows, const std::vector<std::string>& names) {
  std::vector<results::Table::Column> columns(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) columns[i] = {names[i], true};
  results::Table table(std::move(columns));
  while (rows.step()) table.add(cells_of(values_of(rows, names.size()), results::short_value));
  print(table.text());
}

// `line` makes the text of one row.
template <class Line>
void print_lines(sql::Statement& rows, std::string out, std::size_t columns, Line line) {
  while (rows.step()) {
    out += line(values_of(rows, columns));
    if (out.size() < kPrintEvery) continue;
    print(out);
    out.clear();
  }
  print(out);
}

void print_csv(sql::Statement& rows, const std::vector<std::string>& names) {
  print_lines(rows, results::csv_line(names), names.size(), [](const std::vector<Json>& values) {
    return results::csv_line(cells_of(values, results::csv_value));
  });
}

void print_jsonl(sql::Statement& rows, const std::vector<std::string>& names) {
  std::set<std::string> known;
  for (const auto& name : names) {
    if (!known.insert(name).second)
      throw core::UsageError("two columns are called '" + name + "': give one another name, with AS");
  }
  print_lines(rows, "", names.size(), [&](const std::vector<Json>& values) {
    Json object = Json::object();
    for (std::size_t i = 0; i < values.size(); ++i) object[names[i]] = values[i];
    return core::json_text(object) + '\n';
  });
}

fs::path index_of(const Flags& flags, const core::Store& store) {
  const fs::path directory = flags.index.empty() ? core::own_directory_in("/var/tmp") : fs::path(flags.index);
  core::make_private_directory(directory, "choose another place (flor sql --index DIR)");
  return sql::index_file(directory, store);
}

// Prints what can be asked: a line for each view, with its columns.
void print_views(const sql::Database& database) {
  sql::Statement views(database,
                       "SELECT v.name, group_concat(c.name, ', ') FROM (SELECT name FROM sqlite_master WHERE "
                       "type = 'view') v, pragma_table_info(v.name) c GROUP BY v.name ORDER BY v.name");
  while (views.step())
    print(views.value(0).get<std::string>() + "(" + views.value(1).get<std::string>() + ")\n");
}

void ask(const Flags& flags) {
  const core::Store store = existing_store_of(flags.store);
  const fs::path file = index_of(flags, store);
  const sql::Refreshed read = sql::refresh(file, store);
  for (const auto& warning : read.warnings) print_error("warning: " + warning);
  sql::Database database(file, sql::Database::Access::read);
  if (flags.query.empty()) return print_views(database);
  database.allow_only_reading();
  sql::Statement rows(database, flags.query);
  const auto names = rows.columns();
  if (flags.format == "csv") return print_csv(rows, names);
  flags.format == "jsonl" ? print_jsonl(rows, names) : print_table(rows, names);
}

}  // namespace

void add_sql(CLI::App& app, Outcome& /*outcome*/) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("sql", "Ask the runs of the store with SQL: what they logged, with what arguments");
  command->add_option("query", flags->query,
                      "a SELECT, as SQLite reads it; without one, the tables and their columns are shown");
  command
      ->add_option("--format", flags->format, "table (shortened numbers; the default), csv or jsonl (exact)")
      ->check(CLI::IsMember({"table", "csv", "jsonl"}));
  command->add_option(
      "--index", flags->index,
      "the directory of the index, on a local disk (default /var/tmp/flor-UID, else a directory "
      "/var/tmp/flor-UID.XXXXXX of the user's own). What is "
      "there is made of the store alone and may be removed");
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags] { ask(*flags); });
}

}  // namespace flor::commands
