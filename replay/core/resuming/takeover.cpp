#include "core/resuming/takeover.h"

#include "core/checkpoint/recorded_timeline.h"
#include "core/files/json_lines.h"
#include "core/resuming/patience.h"

namespace flor::core {

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
