// What a file server hides for a moment is not gone.
#include "core/files/next_entry.h"

#include <dirent.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include "core/checkpoint/listing.h"
#include "core/files/durable.h"
#include "core/store/store.h"
#include "support/temporary.h"

namespace {

// The entries of a directory whose path ends so cannot be read.
std::string unreadable;

std::string path_of(int file) {
  std::array<char, 4096> path{};
  const ssize_t size =
      ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path.data(), path.size());
  return size <= 0 ? "" : std::string(path.data(), static_cast<std::size_t>(size));
}

bool is_unreadable(DIR* directory) {
  if (unreadable.empty()) return false;
  const std::string path = path_of(::dirfd(directory));
  return path.size() >= unreadable.size() &&
         path.compare(path.size() - unreadable.size(), unreadable.size(), unreadable) == 0;
}

}  // namespace

// In front of the C library's, for the whole program.
extern "C" __attribute__((visibility("default"))) dirent* readdir(DIR* directory) {
  static const auto real = reinterpret_cast<dirent* (*)(DIR*)>(::dlsym(RTLD_NEXT, "readdir"));
  if (!is_unreadable(directory)) return real(directory);
  errno = EIO;
  return nullptr;
}

namespace flor::core {
namespace {

class NextEntry : public ::testing::Test {
 protected:
  ~NextEntry() override { unreadable.clear(); }
};

TEST_F(NextEntry, CheckpointsThatAreHiddenAreNoEmptyList) {
  const test::TemporaryDirectory directory;
  const RunDir run{directory / "run"};
  fs::create_directories(run.checkpoints() / "@iteration");
  write_durably(run.checkpoints() / "@iteration" / "epoch=0.safetensors", "text");
  EXPECT_EQ(checkpoint_names(run).size(), 1U);
  for (const char* hidden : {"checkpoints", "@iteration"}) {
    unreadable = hidden;
    EXPECT_THROW(checkpoint_names(run), std::system_error);
  }
}

TEST_F(NextEntry, LaunchesThatAreHiddenAreNoEmptyList) {
  const test::TemporaryDirectory directory;
  const Store store(directory / "store");
  store.require_writable();
  ASSERT_TRUE(store.claim_launch("c.1.0.0", "20260101-000000-0000000000000001"));
  EXPECT_FALSE(store.launches().empty());
  unreadable = "/" + std::to_string(::geteuid());
  EXPECT_THROW(store.launches(), std::system_error);
}

}  // namespace
}  // namespace flor::core
