#include "sql/database.h"

#include <sqlite3.h>

namespace flor::sql {
namespace {

constexpr int kWaitMilliseconds = 60000;

int only_reading(void* /*unused*/, int action, const char* /*unused*/, const char* /*unused*/,
                 const char* /*unused*/, const char* /*unused*/) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close_v2(handle);
}

Database::Database(const std::filesystem::path& file, Access access) : file_(file.string()) {
  const int flags =
      access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(file_.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail(code);
  sqlite3_extended_result_codes(handle, 0);
  sqlite3_busy_timeout(handle, kWaitMilliseconds);
}

void Database::fail(int code) const {
  const std::string why = file_ + ": " + (handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code));
  if ((code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB) throw Damaged(why);
  throw core::Error(why);
}

void Database::execute(const std::string& statements) {
  if (statements.find('\0') != std::string::npos) throw core::Error("a NUL in a name ends the statement");
  const int code = sqlite3_exec(handle_.get(), statements.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

void Database::allow_only_reading() {
  // A refusal is told as one only where the schema was read before.
  execute("SELECT 1 FROM sqlite_master LIMIT 1");
  sqlite3_set_authorizer(handle_.get(), only_reading, nullptr);
  only_reads_ = true;
}

void Statement::Finalize::operator()(sqlite3_stmt* handle) const {
  sqlite3_finalize(handle);
}

Statement::Statement(const Database& database, const std::string& text) : database_(&database) {
  sqlite3_stmt* handle = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v3(database.handle(), text.c_str(), static_cast<int>(text.size()) + 1,
                                      SQLITE_PREPARE_PERSISTENT, &handle, &rest);
  handle_.reset(handle);
  // VACUUM writes without asking.
  if (code == SQLITE_AUTH || (database.only_reads() && handle_ && sqlite3_stmt_readonly(handle) == 0))
    throw core::UsageError("only SELECT is allowed: a query reads, and does nothing else");
  if (code == SQLITE_ERROR) throw core::UsageError(sqlite3_errmsg(database.handle()));
  if (code != SQLITE_OK) database.fail(code);
  if (!handle_) throw core::UsageError("the query is empty; flor sql without one shows the tables");
  if (std::string_view(rest).find_first_not_of(" \t\r\n;") != std::string_view::npos)
    throw core::UsageError("one query at a time: there is more behind the first ';'");
}

Statement& Statement::bind(int number, int64_t value) {
  sqlite3_bind_int64(handle_.get(), number, value);
  return *this;
}

Statement& Statement::bind(int number, double value) {
  sqlite3_bind_double(handle_.get(), number, value);
  return *this;
}

Statement& Statement::bind(int number, std::string_view value) {
  sqlite3_bind_text64(handle_.get(), number, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_null(int number) {
  sqlite3_bind_null(handle_.get(), number);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  sqlite3_reset(handle_.get());
  if (code != SQLITE_DONE) database_->fail(code);
  return false;
}

std::vector<std::string> Statement::columns() const {
  std::vector<std::string> out(static_cast<std::size_t>(sqlite3_column_count(handle_.get())));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = sqlite3_column_name(handle_.get(), static_cast<int>(i));
  return out;
}

core::Json Statement::value(int column) const {
  switch (sqlite3_column_type(handle_.get(), column)) {
    case SQLITE_NULL:
      return nullptr;
    case SQLITE_INTEGER:
      return sqlite3_column_int64(handle_.get(), column);
    case SQLITE_FLOAT:
      return sqlite3_column_double(handle_.get(), column);
    default: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
      return std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column)));
    }
  }
}

std::string identifier(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace flor::sql
