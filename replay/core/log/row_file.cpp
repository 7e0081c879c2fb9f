#include "core/log/row_file.h"

#include <pthread.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/messages.h"
#include "core/events/live_events.h"
#include "core/files/durable.h"
#include "core/files/json_lines.h"
#include "core/files/trusted_file.h"
#include "core/log/row.h"

namespace flor::core {

RowFile::RowFile(const std::string& where, RowFiles held) : process_(::getpid()) {
  const fs::path path = where;
  const fs::path file = path.extension() == ".jsonl" ? path : path / "log.jsonl";
  try {
    // The user may name a link.
    open(without_links(file), std::move(held));
  } catch (const std::exception& problem) {
    warn("rows are not kept in " + file.string() + ", the program goes on: " + problem.what());
  }
}

void RowFile::open(const fs::path& file, RowFiles held) {
  static std::once_flag once;
  std::call_once(once, [] { ::pthread_atfork(nullptr, nullptr, FileLock::drop_in_child); });
  create_directories_durably(file.parent_path());
  lock_ = FileLock::try_take(file);
  if (!lock_) throw Error("another process or logger writes it; name another directory");
  const LineAppender ends_a_torn_line(file);
  sync_directory(file.parent_path());
  files_ = held ? std::move(held) : std::make_shared<LogFiles>();
  if (const auto problem = files_->open(file.parent_path())) warn("a file of a row is missing: " + *problem);
  journal_ = std::make_unique<Journal>(
      std::vector<fs::path>{file}, [](Journal::Failure failure, const std::string& what) {
        warn(failure == Journal::Failure::lasting
                 ? "the log is damaged, the program goes on: " + what
                 : "rows are not written yet, which is tried again, the program goes on: " + what);
      });
  if (std::shared_ptr<LiveEvents> events = LiveEvents::begin(file.parent_path(), file))
    journal_->watch(0, [events](std::string_view lines) { events->take(lines); });
}

RowFile::~RowFile() {
  if (!journal_) return;
  if (writes()) {
    if (!sync()) warn("the log is damaged: some of its last rows could not be written");
    return;
  }
  // A forked child has neither the thread nor the locks of its parent.
  [[maybe_unused]] Journal* parents = journal_.release();
}

bool RowFile::writes() const {
  return journal_ != nullptr && ::getpid() == process_;
}

void RowFile::append(Line line) {
  if (writes()) journal_->append(0, std::move(line));
}

bool RowFile::sync() {
  return writes() && journal_->sync();
}

}  // namespace flor::core
