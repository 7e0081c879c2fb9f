// The threads that keep writes in flight where there is no io_uring: how many blocks they hold, and what they
// do when a thread or a write is refused.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <system_error>

#include "core/files/durable.h"
#include "core/materialize/write_queue.h"
#include "support/temporary.h"

namespace {

// Writes wait here while the gate is closed.
class Gate {
 public:
  void close() { set(true); }
  void open() { set(false); }
  void pass() {
    std::unique_lock lock(mutex_);
    waiting_ += 1;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !closed_; });
    waiting_ -= 1;
  }
  void await(int writes) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ == writes; });
  }

 private:
  void set(bool closed) {
    const std::lock_guard lock(mutex_);
    closed_ = closed;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  int waiting_ = 0;
};
Gate gate;
bool gate_in_use = false;
int threads_allowed = -1;  // -1: any number

}  // namespace

extern "C" __attribute__((visibility("default"))) ssize_t pwrite(int fd, const void* bytes, size_t size,
                                                                 off_t offset) {
  static const auto next =
      reinterpret_cast<ssize_t (*)(int, const void*, size_t, off_t)>(::dlsym(RTLD_NEXT, "pwrite"));
  if (gate_in_use) gate.pass();
  return next(fd, bytes, size, offset);
}

// A sanitizer has a pthread_create() of its own, which must not be replaced.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FLOR_LIMITS_THREADS 1
extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*work)(void*),
                                                                     void* argument) noexcept {
  static const auto next = reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_allowed == 0) return EAGAIN;
  if (threads_allowed > 0) --threads_allowed;
  return next(thread, attributes, work, argument);
}
#endif

namespace flor::core {
namespace {

class ThreadQueueTest : public testing::Test {
 protected:
  ~ThreadQueueTest() override {
    ::close(fd_);
    gate_in_use = false;
    threads_allowed = -1;
  }
  int submit(WriteQueue& queue, char letter, off_t place) {
    return queue.submit(fd_, &letters_[static_cast<std::size_t>(letter - 'a')], 1, place);
  }
  std::string written() const { return read_file(path_); }

  test::TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_ / "file";
  const std::string letters_ = "abcdefghijklmnopqrstuvwxyz";
  int fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT, 0644);
};

TEST_F(ThreadQueueTest, HoldsNoMoreBlocksThanItsDepth) {
  const auto queue = make_thread_queue(2);
  gate_in_use = true;
  gate.close();
  EXPECT_EQ(submit(*queue, 'a', 0), 0);
  EXPECT_EQ(submit(*queue, 'b', 1), 0);
  gate.await(2);
  auto third = std::async(std::launch::async, [&] { return submit(*queue, 'c', 2); });
  // It may not return while both wait; how long it would need otherwise is not known, so this can only catch
  // it.
  EXPECT_EQ(third.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  gate.open();
  EXPECT_EQ(third.get(), 0);
  EXPECT_EQ(queue->wait(), 0);
  EXPECT_EQ(written(), "abc");
}

TEST_F(ThreadQueueTest, WritesWhatItHoldsBeforeItGoes) {
  {
    const auto queue = make_thread_queue(8);
    gate_in_use = true;
    gate.close();
    for (char letter = 'a'; letter < 'i'; ++letter) submit(*queue, letter, letter - 'a');
    gate.await(4);  // its threads; four blocks wait for them
    gate.open();
  }
  EXPECT_EQ(written(), "abcdefgh");
}

#ifdef FLOR_LIMITS_THREADS
TEST_F(ThreadQueueTest, WorksWithTheThreadsThatItGets) {
  threads_allowed = 1;
  const auto queue = make_thread_queue(8);
  threads_allowed = -1;
  for (char letter = 'a'; letter < 'i'; ++letter) EXPECT_EQ(submit(*queue, letter, letter - 'a'), 0);
  EXPECT_EQ(queue->wait(), 0);
  EXPECT_EQ(written(), "abcdefgh");
}

TEST_F(ThreadQueueTest, IsNotMadeWithoutAnyThread) {
  threads_allowed = 0;
  EXPECT_THROW(make_thread_queue(8), std::system_error);
}
#endif

TEST_F(ThreadQueueTest, KeepsTheFirstErrorUntilItIsAskedFor) {
  const auto queue = make_thread_queue(8);
  const int closed = ::open("/dev/null", O_RDONLY);
  queue->submit(closed, letters_.data(), 1, 0);
  for (char letter = 'a'; letter < 'e'; ++letter) submit(*queue, letter, letter - 'a');
  EXPECT_EQ(queue->wait(), EBADF);
  ::close(closed);
  EXPECT_EQ(written(), "abcd") << "the other blocks are written all the same";
  EXPECT_EQ(queue->wait(), 0);
}

}  // namespace
}  // namespace flor::core
