// Large files: blocks in flight, direct and cached, and what stops them.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <random>

#include "core/files/durable.h"
#include "core/materialize/queued_output.h"
#include "core/materialize/staging.h"
#include "recording.h"

// So many calls are refused from now on, as by a kernel without memory for the request.
static int refused_submissions = 0;

extern "C" __attribute__((visibility("default"))) int io_uring_submit(void* ring) {
  static const auto next = reinterpret_cast<int (*)(void*)>(::dlsym(RTLD_NEXT, "io_uring_submit"));
  if (refused_submissions == 0) return next(ring);
  --refused_submissions;
  return -ENOMEM;
}

namespace flor::core {
namespace {

using test::Recording;
using test::Tensor;

std::string noise(std::size_t size) {
  std::mt19937_64 random(size);
  std::string bytes(size, '\0');
  for (auto& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

class Queues : public testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<WriteQueue> queue_ = GetParam() ? make_uring_queue(8) : make_thread_queue(8);
  test::TemporaryDirectory directory_;
};
INSTANTIATE_TEST_SUITE_P(Both, Queues, testing::Bool(),
                         [](const auto& info) { return info.param ? "io_uring" : "threads"; });

TEST_P(Queues, WriteEveryBlockToItsPlace) {
  if (!queue_) GTEST_SKIP() << "this kernel allows no io_uring";
  const std::string bytes = noise(41 << 20);
  const auto path = directory_ / "file";
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0644);
  constexpr std::size_t block = 1 << 20;
  for (std::size_t at = bytes.size(); at > 0; at -= block) {
    ASSERT_EQ(queue_->submit(fd, bytes.data() + at - block, block, static_cast<off_t>(at - block)), 0);
  }
  EXPECT_EQ(queue_->wait(), 0);
  ::close(fd);
  EXPECT_TRUE(read_file(path) == bytes);
}

TEST_P(Queues, SayWhatFailedAndWorkAgain) {
  if (!queue_) GTEST_SKIP() << "this kernel allows no io_uring";
  const std::string bytes = noise(4096);
  const auto path = directory_ / "file";
  const int closed = ::open("/dev/null", O_RDONLY);
  int error = queue_->submit(closed, bytes.data(), bytes.size(), 0);
  if (error == 0) error = queue_->wait();
  EXPECT_EQ(error, EBADF);
  queue_->wait();
  ::close(closed);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0644);
  EXPECT_EQ(queue_->submit(fd, bytes.data(), bytes.size(), 0), 0);
  EXPECT_EQ(queue_->wait(), 0);
  ::close(fd);
  EXPECT_TRUE(read_file(path) == bytes);
}

TEST(UringQueueTest, WhatTheKernelRefusesIsWrittenAllTheSame) {
  const auto queue = make_uring_queue(8);
  if (!queue) GTEST_SKIP() << "this kernel allows no io_uring";
  test::TemporaryDirectory directory;
  const auto path = directory / "file";
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0644);
  constexpr std::size_t block = 4096;
  std::string bytes = noise(20 * block);
  for (std::size_t at = 0; at < bytes.size(); at += block) {
    if (at == 3 * block) refused_submissions = 1;
    ASSERT_EQ(queue->submit(fd, bytes.data() + at, block, static_cast<off_t>(at)), 0);
  }
  EXPECT_EQ(queue->wait(), 0);
  EXPECT_TRUE(read_file(path) == bytes);
  // Behind wait() the memory is the caller's: nothing of it is written once more.
  const std::string written = bytes;
  bytes.assign(bytes.size(), 'x');
  EXPECT_EQ(queue->submit(fd, noise(block).data(), block, static_cast<off_t>(bytes.size())), 0);
  EXPECT_EQ(queue->wait(), 0);
  ::close(fd);
  EXPECT_TRUE(read_file(path) == written + noise(block));
}

// Several files behind one another, so that both ways, direct and cached, are taken.
TEST(QueuedOutputTest, WritesPartsOfAnyLength) {
  test::TemporaryDirectory directory;
  QueuedOutput output;
  Staging staging;
  int number = 0;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, QueuedOutput::block - 1, QueuedOutput::block,
                                 3 * QueuedOutput::block + 17, 20 * QueuedOutput::block + 4095}) {
    for (const std::size_t step : {size + 1, std::size_t{700001}}) {
      const std::string bytes = noise(size);
      unsigned char* memory = staging.require(size);
      std::memcpy(memory, bytes.data(), size);
      const auto path = directory / std::to_string(number++);
      const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0644);
      output.begin(fd);
      for (std::size_t at = 0; at < size; at += step) {
        ASSERT_EQ(output.write(memory + at, std::min(step, size - at), static_cast<off_t>(4096 + at)), 0);
      }
      ASSERT_EQ(output.write("head", 4, 0), 0);
      ASSERT_EQ(output.finish(), 0);
      output.took(0.001);
      ::close(fd);
      const std::string written = read_file(path);
      EXPECT_EQ(written.substr(0, 4), "head");
      EXPECT_TRUE(size == 0 || written.substr(4096) == bytes) << size << " in steps of " << step;
    }
  }
}

// A limit on file sizes stops a write in the middle of a block, as a full disk does.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

class Limited : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Limited, testing::Values("inline", "thread", "fork", "fork-batch"),
                         [](const auto& info) {
                           return info.param == "fork-batch" ? std::string("fork_batch") : info.param;
                         });

TEST_P(Limited, AWriteThatIsCutShortIsAnErrorAndTheNextMomentRecovers) {
  Recording run(GetParam());
  Tensor tensor(3 << 20);
  ASSERT_EQ(run.take(0, {tensor.buffer("0")}).error, "");
  tensor.write(2.0F);
  {
    const FileLimit limit(5 * QueuedOutput::block + 100);
    EXPECT_NE(run.take(1, {tensor.buffer("0")}).error, "");
  }
  EXPECT_FALSE(fs::exists(run.dir.path / Recording::file(1)));
  EXPECT_EQ(run.take(2, {tensor.buffer("0")}).error, "");
  EXPECT_EQ(run.values(2, "0"), tensor.values);
  EXPECT_EQ(run.values(0, "0"), std::vector<float>(tensor.values.size(), 0.5F));
}

}  // namespace
}  // namespace flor::core
