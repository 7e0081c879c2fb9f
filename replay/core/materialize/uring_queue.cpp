// Writes blocks with io_uring. Compiled if liburing is installed, else no_uring_queue.cpp.
#include <liburing.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "core/files/durable.h"
#include "core/materialize/write_queue.h"

namespace flor::core {
namespace {

class UringQueue : public WriteQueue {
 public:
  explicit UringQueue(unsigned depth) : blocks_(depth) {
    started_ = ::io_uring_queue_init(depth, &ring_, 0) == 0;
    for (unsigned i = 0; i < depth; ++i) free_.push_back(i);
  }
  ~UringQueue() override {
    if (!started_) return;
    reap_all();
    ::io_uring_queue_exit(&ring_);
  }
  UringQueue(const UringQueue&) = delete;
  UringQueue& operator=(const UringQueue&) = delete;
  bool started() const { return started_; }

  int submit(int fd, const void* bytes, std::size_t size, off_t offset) override {
    if (refused_) {
      note(step::write(fd, bytes, size, offset));
      return error_;
    }
    if (free_.empty()) reap();
    const unsigned slot = free_.back();
    free_.pop_back();
    blocks_[slot] = {fd, static_cast<const char*>(bytes), size, offset};
    io_uring_sqe* entry = ::io_uring_get_sqe(&ring_);
    ::io_uring_prep_write(entry, fd, bytes, static_cast<unsigned>(size), static_cast<__u64>(offset));
    ::io_uring_sqe_set_data(entry, &blocks_[slot]);
    int sent = 0;
    while ((sent = ::io_uring_submit(&ring_)) == -EINTR || sent == -EAGAIN) {
    }
    if (sent < 1) {
      // The entry stays in the ring, and would be submitted with the next one, when its memory may have
      // another use. So do not use the ring any more, and do not wait for this entry.
      refused_ = true;
      free_.push_back(slot);
      note(step::write(fd, bytes, size, offset));
    }
    return error_;
  }

  int wait() override {
    reap_all();
    return std::exchange(error_, 0);
  }
  const char* name() const override { return "io_uring"; }
  const char* direct_name() const override { return "io_uring, direct"; }

 private:
  void note(int error) {
    if (error_ == 0) error_ = error;
  }
  void reap_all() {
    while (free_.size() < blocks_.size()) reap();
  }
  void reap() {
    io_uring_cqe* done = nullptr;
    int got = 0;
    while ((got = ::io_uring_wait_cqe(&ring_, &done)) == -EINTR) {
    }
    if (got < 0) {  // the ring is broken, and reports no more blocks
      note(-got);
      refused_ = true;
      free_.clear();
      for (unsigned i = 0; i < blocks_.size(); ++i) free_.push_back(i);
      return;
    }
    const auto* block = static_cast<Block*>(::io_uring_cqe_get_data(done));
    const int result = done->res;
    ::io_uring_cqe_seen(&ring_, done);
    if (result < 0 && result != -EINTR && result != -EAGAIN) {
      note(-result);
    } else if (static_cast<std::size_t>(std::max(result, 0)) < block->size) {
      const auto part = static_cast<std::size_t>(std::max(result, 0));
      const int error = step::write(block->fd, block->bytes + part, block->size - part,
                                    block->offset + static_cast<off_t>(part));
      // A full disk has cut a direct write short, so the rest is not aligned.
      note(error == EINVAL && part > 0 ? ENOSPC : error);
    }
    free_.push_back(static_cast<unsigned>(block - blocks_.data()));
  }

  io_uring ring_{};
  bool started_ = false;
  std::vector<Block> blocks_;
  std::vector<unsigned> free_;
  bool refused_ =
      false;  // the ring refused a block or broke: this thread writes that block and all later ones
  int error_ = 0;
};

}  // namespace

std::unique_ptr<WriteQueue> make_uring_queue(unsigned depth) {
  auto queue = std::make_unique<UringQueue>(depth);
  if (!queue->started()) return nullptr;
  return queue;
}

}  // namespace flor::core
