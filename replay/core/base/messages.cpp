#include "core/base/messages.h"

#include <unistd.h>

#include <mutex>
#include <set>

#include "core/base/held_signals.h"
#include "core/base/printable.h"

namespace flor::core {

void say(const std::string& line) {
  const std::string text = "flor: " + printable_lines(line) + "\n";
  // Whoever read the messages may be gone. That is no reason to end the training.
  const HeldSignals held;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

void warn(const std::string& line) {
  say("warning: " + line);
}

void warn_once(const std::string& line) {
  static std::mutex mutex;
  // Never destroyed: an exit handler may still warn.
  static auto* said = new std::set<std::string>();
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!said->insert(line).second) return;
  }
  warn(line);
}

}  // namespace flor::core
