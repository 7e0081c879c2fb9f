#include "core/materialize/direct_output.h"

#include <fcntl.h>

#include <algorithm>
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

void DirectOutput::begin(int fd) noexcept {
  fd_ = fd;
  pending_ = nullptr;
  pending_size_ = 0;
  sent_ = 0;
  is_direct_ = false;
}

DirectOutput::Way DirectOutput::choose() const {
  if (no_direct_) return cached;
  if (per_byte_[direct] < 0) return direct;
  if (per_byte_[cached] < 0) return cached;
  const Way better = per_byte_[direct] <= per_byte_[cached] ? direct : cached;
  return files_ % try_again == 0 ? (better == direct ? cached : direct) : better;
}

bool DirectOutput::set_direct(bool on) noexcept {
  const int flags = ::fcntl(fd_, F_GETFL);
  return flags >= 0 && ::fcntl(fd_, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}

int DirectOutput::write(const void* bytes, std::size_t size, off_t offset) noexcept {
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
  while (pending_size_ >= most && is_aligned(pending_, pending_offset_)) {
    if (const int error = send(most)) return error;
  }
  return 0;
}

// Writes whole blocks from the beginning of the pending part.
int DirectOutput::send(std::size_t size) noexcept {
  if (sent_ == 0) {
    files_ += 1;
    is_direct_ = was_direct_ = choose() == direct && set_direct(true);
    if (!is_direct_ && choose() == direct) no_direct_ = true;
  } else if (was_direct_ && !is_direct_) {
    is_direct_ = set_direct(true);
  }
  int error = step::write(fd_, pending_, size, pending_offset_);
  if (error == EINVAL && is_direct_) {
    no_direct_ = true;
    was_direct_ = false;
    error = leave_direct();
    if (error == 0) error = step::write(fd_, pending_, size, pending_offset_);
  }
  sent_ += size;
  pending_ += size;
  pending_size_ -= size;
  pending_offset_ += static_cast<off_t>(size);
  return error;
}

int DirectOutput::leave_direct() noexcept {
  if (!is_direct_) return 0;
  is_direct_ = !set_direct(false);
  return is_direct_ ? EIO : 0;
}

// Writes all that is pending: its whole blocks, if they are aligned, and the rest plainly.
int DirectOutput::send_rest() noexcept {
  const std::size_t whole = pending_size_ / block * block;
  if (whole > 0 && is_aligned(pending_, pending_offset_)) {
    if (const int error = send(whole)) return error;
  }
  if (pending_size_ == 0) return 0;
  int error = leave_direct();
  if (error == 0) error = step::write(fd_, pending_, pending_size_, pending_offset_);
  pending_size_ = 0;
  return error;
}

int DirectOutput::finish() noexcept {
  return send_rest();
}

void DirectOutput::took(double seconds) {
  if (sent_ == 0) return;
  double& known = per_byte_[was_direct_ ? direct : cached];
  const double now = seconds / static_cast<double>(sent_);
  known = known < 0 ? now : 0.5 * known + 0.5 * now;
}

const char* DirectOutput::engine() const {
  if (sent_ == 0) return "plain";
  return was_direct_ ? "direct" : "cached";
}

}  // namespace flor::core
