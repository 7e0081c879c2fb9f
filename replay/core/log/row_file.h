// Rows of a program that does not record them, in files of its own choice: `log.jsonl` in a directory, with
// the tensors and images that the rows name beside it (docs/formats.md, "Rows").
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

// Thread-safe. Never throws: what cannot be written is said once, and the program goes on. In a forked child
// it writes nothing: the files are the parent's.
class RowFile {
 public:
  // A directory, or the file itself where the name ends in ".jsonl". Created if missing; continued if there.
  // `held`: files of rows that were logged before, which are written now; null: none.
  explicit RowFile(const std::string& where, RowFiles held = nullptr);
  ~RowFile();  // as sync()
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;

  bool writes() const;  // false: rows are dropped, in a child or because of what was said
  void log(const Row& row, const Scope& scope) { append(row_line(row, scope)); }
  void append(Line line);
  RowFiles files() const { return writes() ? files_ : nullptr; }
  bool sync();  // every row before is durable

 private:
  void open(const std::filesystem::path& file, RowFiles held);

  const pid_t process_;
  std::optional<FileLock> lock_;
  std::unique_ptr<Journal> journal_;
  RowFiles files_;
};

}  // namespace flor::core
