#include "core/resuming/takeover.h"

#include <chrono>
#include <thread>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/checkpoint/recorded_timeline.h"
#include "core/files/json_lines.h"
#include "core/resuming/patience.h"
#include "core/store/liveness.h"

namespace flor::core {
namespace {

// How long a process that counts as dead may take to let go of its lock.
constexpr double lock_patience_s = 5;

}  // namespace

std::optional<FileLock> take_earlier_lock(const RunDir& run, const Manifest& earlier) {
  const double until = monotonic_seconds() + lock_patience_s;
  while (true) {
    if (auto lock = FileLock::try_take(run.lock())) return lock;
    if (monotonic_seconds() >= until) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  if (!is_held_elsewhere(run, earlier.host)) throw Error("another process records run " + run.id());
  return std::nullopt;
}

void take_over(const RunDir& run, int64_t attempt) {
  // The earlier attempt may still be writing. For a checkpoint it first makes the log durable, then the file,
  // then the row of the timeline. This reads them in the opposite order, so that for each checkpoint in the
  // timeline nothing that it covers is missing.
  Patience patience;
  const auto renew = [&](const fs::path& journal) {
    patiently(patience, [&] { renew_whole_lines(journal); });
  };
  renew(run.timeline());
  std::string rows;
  for (const auto& row : patiently(patience, [&run] { return recorded_timeline(run); })) {
    if (row.contains("adopted")) rows.append(row.text()) += '\n';
  }
  rows += Json({{"kind", attempt_row}, {"attempt", attempt}}).dump() + "\n";
  LineAppender timeline(run.timeline());
  timeline.append(rows);
  timeline.sync();
  renew(run.generators());
  renew(run.log());
}

}  // namespace flor::core
