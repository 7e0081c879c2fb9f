#include "record_link.h"

#include <exception>

#include "core/base/json.h"
#include "log.h"
#include "queue/queue.h"

namespace flor::agent {

void RecordLink::publish(const std::string& redis, const std::string& run, const RecordProgress& progress) {
  if (redis.empty()) return;
  auto& outlet = outlets_[redis];
  const auto now = std::chrono::steady_clock::now();
  if (now < outlet.retry_at) return;
  try {
    if (!outlet.redis) outlet.redis = std::make_unique<queue::Redis>(redis);
    queue::publish_record_event(*outlet.redis, run,
                                {{"kind", "progress"},
                                 {"at", progress.at},
                                 {"of", std::to_string(progress.of)},
                                 {"seconds", core::number_text(progress.seconds)}});
  } catch (const std::exception& problem) {
    outlet.retry_at = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    log_line(std::string("progress of run ") + run + " is not published: " + problem.what());
  }
}

}  // namespace flor::agent
