// Publishes what recordings tell, in Redis, where one is configured. What cannot be published now is dropped.
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
  // `redis` empty: nothing is published.
  void publish(const std::string& redis, const std::string& run, const RecordProgress& progress);

 private:
  struct Outlet {
    std::unique_ptr<queue::Redis> redis;
    std::chrono::steady_clock::time_point retry_at;
  };
  std::map<std::string, Outlet> outlets_;
};

}  // namespace flor::agent
