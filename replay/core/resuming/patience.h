// Waits where a file server refuses a read for a while: a failover, a stale handle, a soft mount. What could
// not be read is not damaged, and a resumption that gave up at once would lose all progress.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "core/base/clock.h"
#include "core/base/messages.h"
#include "core/config/settings.h"

namespace flor::core {

class Patience {
 public:
  explicit Patience(double seconds = patience_seconds()) : seconds_(seconds) {}

  // Waits, and returns true, or returns false where it has waited long enough. Says at the first time why.
  bool wait(const std::string& why) {
    const double now = monotonic_seconds();
    if (!end_) {
      end_ = now + seconds_;
      say(why + "; trying again for " + std::to_string(static_cast<int>(seconds_)) + " s");
    }
    if (now >= *end_) return false;
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(pause_, *end_ - now)));
    pause_ = std::min(2 * pause_, 10.0);
    return true;
  }

 private:
  const double seconds_;
  std::optional<double> end_;
  double pause_ = 0.1;
};

// Can the error pass by itself? Not if a file is missing or may not be read, or if the disk or a quota is
// full.
inline bool may_pass(const std::error_code& error) {
  return error != std::errc::no_space_on_device && error.value() != EDQUOT &&
         error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory &&
         error != std::errc::permission_denied && error != std::errc::operation_not_permitted &&
         error != std::errc::filename_too_long;
}

// Returns what `call` returns. Calls it again, with patience, while it throws std::system_error that may
// pass.
template <class Call>
auto patiently(Patience& patience, const Call& call) {
  for (;;) {
    try {
      return call();
    } catch (const std::system_error& problem) {
      if (!may_pass(problem.code()) || !patience.wait(problem.what())) throw;
    }
  }
}

}  // namespace flor::core
