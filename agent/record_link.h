// Publishes the progress of recordings in Redis, if one is configured. Drops what cannot be published now.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "messages.h"
#include "queue/redis.h"

namespace flor::agent {

class RecordLink {
 public:
  // Publishes nothing if `redis` is empty. Logs a failure, and publishes nothing there for the next 5 s.
  void publish(const std::string& redis, const std::string& run, const RecordProgress& progress);

 private:
  struct Outlet {
    std::unique_ptr<queue::Redis> redis;
    std::chrono::steady_clock::time_point retry_at;
  };
  std::map<std::string, Outlet> outlets_;
};

}  // namespace flor::agent
