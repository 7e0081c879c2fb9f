#include "answers.h"

#include <sys/eventfd.h>

#include <utility>

#include "core/base/error.h"

namespace flor::agent {

Answers::Answers() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!event_) throw core::Error("eventfd failed");
}

void Answers::put(Answer answer) {
  const std::lock_guard lock(mutex_);
  answers_.push_back(std::move(answer));
  [[maybe_unused]] const int told = ::eventfd_write(event_.get(), 1);
}

std::vector<Answer> Answers::take() {
  const std::lock_guard lock(mutex_);
  eventfd_t count = 0;
  [[maybe_unused]] const int read = ::eventfd_read(event_.get(), &count);
  return std::exchange(answers_, {});
}

}  // namespace flor::agent
