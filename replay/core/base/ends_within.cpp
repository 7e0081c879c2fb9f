#include "core/base/ends_within.h"

#include <chrono>
#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/blocked_signals.h"

namespace flor::core {

bool ends_within(double seconds, std::function<void()> work) {
  // Shared: a thread that cannot be started may have taken what was moved into it all the same.
  const auto task = std::make_shared<std::packaged_task<void()>>(std::move(work));
  auto end = task->get_future();
  try {
    const BlockedSignals blocked;
    std::thread([task] { (*task)(); }).detach();
  } catch (const std::system_error&) {
    // Without a thread the work still has to be done.
    (*task)();
  }
  if (end.wait_for(std::chrono::duration<double>(seconds)) != std::future_status::ready) return false;
  end.get();
  return true;
}

}  // namespace flor::core
