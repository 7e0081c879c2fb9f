// Writes the rows of a program that is not recorded: `log.jsonl` in a directory, and beside it the tensors
// and images that rows refer to (docs/formats.md, "Rows").
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "core/log/journal.h"
#include "core/log/log_files.h"
#include "core/log/row.h"
#include "core/store/store.h"

namespace flor::core {

// Thread-safe. Never throws: warns once if something cannot be written, and the program goes on. Writes
// nothing in a forked child.
class RowFile {
 public:
  // `where` is a directory, or the file itself if its name ends in ".jsonl". Creates it if it is missing;
  // appends to it if it exists. `held` are files of rows that were logged before; they are written now. Null:
  // none.
  explicit RowFile(const std::string& where, RowFiles held = nullptr);
  // Waits as sync() does.
  ~RowFile();
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;

  // Returns false if rows are dropped: in a forked child, or where the file could not be opened.
  bool writes() const;
  void log(const Row& row, const Scope& scope) { append(row_line(row, scope)); }
  void append(Line line);
  RowFiles files() const { return writes() ? files_ : nullptr; }
  // Makes all rows so far durable. Returns false if some could not be written.
  bool sync();

 private:
  void open(const std::filesystem::path& file, RowFiles held);

  const pid_t process_;
  std::optional<FileLock> lock_;
  std::unique_ptr<Journal> journal_;
  RowFiles files_;
};

}  // namespace flor::core
