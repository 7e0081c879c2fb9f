// The memory of a copy is training's again once its checkpoint is written.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <future>

#include "core/materialize/staging.h"
#include "recording.h"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

namespace flor::core {
namespace {

using test::Recording;
using test::Tensor;

constexpr std::size_t size = std::size_t{64} << 20;
constexpr std::size_t most = size / 10 * 9;

// Bytes of this process that the kernel may take, and write nowhere, when memory is short.
std::size_t given_back() {
  std::ifstream in("/proc/self/smaps_rollup");
  for (std::string key; in >> key;) {
    std::size_t kib = 0;
    if (key == "LazyFree:" && in >> kib) return kib << 10;
  }
  return 0;
}

std::size_t resident(const Staging& staging) {
  std::vector<unsigned char> pages(staging.size() / 4096);
  EXPECT_EQ(::mincore(staging.data(), staging.size(), pages.data()), 0);
  return static_cast<std::size_t>(std::count(pages.begin(), pages.end(), 1)) * 4096;
}

// State that every materializer copies.
struct State {
  std::vector<Buffer> buffers() {
    Buffer buffer = tensor.buffer("weight");
    buffer.data = nullptr;
    buffer.hint.reset();
    buffer.copy = [this](void* to) { std::memcpy(to, tensor.values.data(), size); };
    return {buffer};
  }
  Tensor tensor{size / sizeof(float)};
};

class CopiesOf : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, CopiesOf, testing::Values("inline", "thread", "fork", "fork-batch"),
                         [](const auto& info) {
                           return info.param == "fork-batch" ? std::string("fork_batch") : info.param;
                         });

TEST_P(CopiesOf, WrittenStateAreGivenBackAndTheirMemoryIsUsedAgain) {
  Recording run(GetParam());
  State state;
  const std::size_t before = given_back();
  for (int epoch = 0; epoch < 3; ++epoch) {
    state.tensor.write(static_cast<float>(epoch));
    ASSERT_EQ(run.take(epoch, state.buffers()).error, "");
    EXPECT_GE(given_back(), before + most) << epoch;
  }
  for (int epoch = 0; epoch < 3; ++epoch) {
    const std::vector<float> expected(state.tensor.values.size(), static_cast<float>(epoch));
    EXPECT_EQ(run.values(epoch, "weight"), expected) << epoch;
  }
}

TEST(ThreadMaterializer, KeepsItsCopyUntilItIsWritten) {
  Recording run("thread");
  State state;
  const std::size_t before = given_back();
  run.take(0, state.buffers());
  std::promise<void> go;
  run.begin(1, state.buffers(), [&] { go.get_future().wait(); });
  EXPECT_LT(given_back(), before + size / 10);
  go.set_value();
  run.materializer().drain();
  EXPECT_GE(given_back(), before + most);
}

// It is prepared at a loop's entry, when no one knows yet what training needs at its peak.
TEST(ThreadMaterializer, LeavesToTrainingWhatItPreparedForACopy) {
  Recording run("thread");
  const std::size_t before = given_back();
  ASSERT_TRUE(run.materializer().ready(size, 600));
  EXPECT_GE(given_back(), before + most);
}

TEST(ThreadMaterializer, GivesItsMemoryBackWhereACopyFails) {
  Recording run("thread");
  State state;
  auto buffers = state.buffers();
  buffers[0].copy = [](void* to) {
    std::memset(to, 1, size);
    throw std::runtime_error("the device is gone");
  };
  const std::size_t before = given_back();
  EXPECT_EQ(run.materializer().materialize({"train", "epoch=0/train#0", Recording::file(0), {}, {}}, buffers),
            "the device is gone");
  EXPECT_GE(given_back(), before + most);
}

// As the kernel does it by itself where memory is short.
TEST(StagingMemory, CanBeTakenByTheKernelOnceItIsGivenBack) {
  Staging staging;
  std::memset(staging.require(size), 7, size);
  if (::madvise(staging.data(), size, MADV_PAGEOUT) != 0) GTEST_SKIP() << "this kernel takes none on demand";
  for (int round = 0; round < 2; ++round) {
    std::memset(staging.require(size), 7, size);
    EXPECT_EQ(resident(staging), staging.size());
    staging.give_back();
    EXPECT_EQ(::madvise(staging.data(), size, MADV_PAGEOUT), 0);
    EXPECT_LT(resident(staging), size / 10);
  }
  std::memset(staging.require(size), 8, size);
  EXPECT_EQ(std::count(staging.data(), staging.data() + size, 8), static_cast<std::ptrdiff_t>(size));
}

TEST(StagingMemory, IsGivenBackWholeWhenItIsTouchedInParts) {
  constexpr std::size_t step = size / 8;
  Staging staging;
  staging.require(size);
  const std::size_t before = given_back();
  for (std::size_t at = 0; at < size; at += step) staging.touch(at, step);
  EXPECT_EQ(resident(staging), size);
  EXPECT_GE(given_back(), before + size / 100 * 99);
}

// One that was given back costs as much as a fault at the next write, where a virtual machine watches for
// that.
TEST(StagingMemory, LiesInHugePagesAlsoWhereItGrows) {
  constexpr std::size_t huge = std::size_t{2} << 20;
  const auto lies_in_huge_pages = [](const Staging& staging) {
    return reinterpret_cast<std::uintptr_t>(staging.data()) % huge == 0 && staging.size() % huge == 0;
  };
  Staging staging;
  std::memset(staging.map(100000), 7, 100000);
  for (std::size_t bytes = std::size_t{1} << 20; bytes <= size; bytes *= 3) {
    staging.map(bytes);
    EXPECT_TRUE(lies_in_huge_pages(staging)) << bytes << " bytes";
  }
  Staging with_copy;
  for (std::size_t bytes = std::size_t{1} << 20; bytes <= size; bytes *= 3) {
    const unsigned char* copy = with_copy.require(bytes);
    EXPECT_EQ(std::count(copy, copy + bytes / 3, 7),
              static_cast<std::ptrdiff_t>(bytes > huge ? bytes / 3 : 0));
    EXPECT_TRUE(lies_in_huge_pages(with_copy)) << bytes << " bytes";
    std::memset(with_copy.data(), 7, bytes);
  }
}

// Does a child that is forked now have its last page?
bool is_in_child(const Staging& staging) {
  const pid_t child = ::fork();
  if (child == 0) {
    unsigned char page = 0;
    const bool missing =
        ::mincore(staging.data() + staging.size() - 4096, 4096, &page) != 0 && errno == ENOMEM;
    ::_exit(missing ? 1 : 0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status) == 0;
}

// A loader's worker would keep the pages of a copy that it was forked in, as long as it lives.
TEST(StagingMemory, IsMissingInForkedChildren) {
  Staging staging;
  for (const std::size_t bytes : {size / 4, size}) {
    std::memset(staging.require(bytes), 7, bytes);
    EXPECT_FALSE(is_in_child(staging));
  }
  Staging read_by_a_child(InChildren::kept);
  read_by_a_child.require(size);
  EXPECT_TRUE(is_in_child(read_by_a_child));
}

TEST(StagingMemory, IsUnmappedWhereItIsLocked) {
  constexpr std::size_t little = 16384;
  Staging staging;
  // Past the C library: the sanitizers have mlock() do nothing.
  if (::syscall(SYS_mlock, staging.require(little), little) != 0)
    GTEST_SKIP() << "nothing may be locked here";
  staging.give_back();
  EXPECT_EQ(staging.size(), 0U);
  std::memset(staging.require(little), 7, little);
}

}  // namespace
}  // namespace flor::core
