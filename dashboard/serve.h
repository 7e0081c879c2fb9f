// Serves the dashboard of a store until it is stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/store/store.h"

namespace flor::dashboard {

struct ServeOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  // Further names of this machine that browsers use.
  std::vector<std::string> names;
  std::string token;
  // Opens /metrics alone; empty where there is none.
  std::string metrics_token;
};

// Calls `ready` with the port, once it listens. Looks at the store about three times a second, and sends
// viewers what has changed. Returns when `stopped` does. Throws core::Error where it cannot listen.
void serve(const core::Store& store, const ServeOptions& options,
           const std::function<void(std::uint16_t)>& ready, const std::function<bool()>& stopped);

}  // namespace flor::dashboard
