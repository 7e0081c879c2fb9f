#include "core/materialize/queued_output.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdint>

#include "core/files/durable.h"

namespace flor::core {
namespace {

constexpr std::size_t page = 4096;
// After this many files the slower way is tried once more: the speed of the medium may have changed.
constexpr int try_again = 32;

bool is_aligned(const void* bytes, off_t offset) {
  return reinterpret_cast<std::uintptr_t>(bytes) % page == 0 && offset % static_cast<off_t>(page) == 0;
}

}  // namespace

void QueuedOutput::begin(int fd) noexcept {
  fd_ = fd;
  pending_ = nullptr;
  pending_size_ = 0;
  sent_ = 0;
  is_direct_ = false;
}

QueuedOutput::Way QueuedOutput::choose() const {
  if (no_direct_) return cached;
  if (per_byte_[direct] < 0) return direct;
  if (per_byte_[cached] < 0) return cached;
  const Way better = per_byte_[direct] <= per_byte_[cached] ? direct : cached;
  return files_ % try_again == 0 ? (better == direct ? cached : direct) : better;
}

bool QueuedOutput::set_direct(bool on) noexcept {
  const int flags = ::fcntl(fd_, F_GETFL);
  return flags >= 0 && ::fcntl(fd_, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}

int QueuedOutput::write(const void* bytes, std::size_t size, off_t offset) noexcept try {
  const char* at = static_cast<const char*>(bytes);
  const bool follows = pending_ != nullptr && at == pending_ + pending_size_ &&
                       offset == pending_offset_ + static_cast<off_t>(pending_size_);
  if (!follows) {
    if (const int error = send_rest()) return error;
    pending_ = at;
    pending_size_ = 0;
    pending_offset_ = offset;
  }
  pending_size_ += size;
  while (pending_size_ >= block && is_aligned(pending_, pending_offset_)) {
    if (const int error = send(pending_, block, pending_offset_)) return error;
    pending_ += block;
    pending_size_ -= block;
    pending_offset_ += static_cast<off_t>(block);
  }
  return 0;
} catch (const std::exception&) {
  return ENOMEM;
}

int QueuedOutput::send(const char* bytes, std::size_t size, off_t offset) {
  if (!queue_) queue_ = make_uring_queue(depth);
  if (!queue_) queue_ = make_thread_queue(depth);
  if (sent_ == 0) {
    files_ += 1;
    is_direct_ = was_direct_ = choose() == direct && set_direct(true);
    if (!is_direct_ && choose() == direct) no_direct_ = true;
  }
  sent_ += size;
  return queue_->submit(fd_, bytes, size, offset);
}

// Writes the pending part plainly: it is shorter than a block, or not aligned. Leaves direct mode for that.
int QueuedOutput::send_rest() {
  if (pending_size_ == 0) return 0;
  int error = sent_ > 0 ? queue_->wait() : 0;
  if (error == 0 && is_direct_) {
    is_direct_ = !set_direct(false);
    if (is_direct_) error = EIO;
  }
  if (error == 0) error = step::write(fd_, pending_, pending_size_, pending_offset_);
  pending_size_ = 0;
  return error;
}

int QueuedOutput::finish() noexcept try {
  int error = send_rest();
  const int late = sent_ > 0 ? queue_->wait() : 0;
  if (error == 0) error = late;
  // The file system has other demands on direct writes. Do not try them again.
  if (error == EINVAL && was_direct_ && sent_ > 0) no_direct_ = true;
  return error;
} catch (const std::exception&) {
  return ENOMEM;
}

void QueuedOutput::took(double seconds) {
  if (sent_ == 0) return;
  double& known = per_byte_[was_direct_ ? direct : cached];
  const double now = seconds / static_cast<double>(sent_);
  known = known < 0 ? now : 0.5 * known + 0.5 * now;
}

const char* QueuedOutput::engine() const {
  if (sent_ == 0) return "plain";
  return was_direct_ ? queue_->direct_name() : queue_->name();
}

}  // namespace flor::core
