#include "log.h"

#include <unistd.h>

#include <ctime>

#include "core/base/printable.h"

namespace flor::agent {

void log_line(const std::string& text) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
  const std::string line =
      std::string(stamp) + " flor-agent[" + std::to_string(::getpid()) + "] " + core::printable(text) + "\n";
  // The agent goes on if its log cannot be written.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace flor::agent
