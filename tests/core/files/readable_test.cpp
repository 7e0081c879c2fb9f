// Mapped memory that the kernel cannot fill.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/files/make_readable.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

TEST(Readable, MemoryThatWouldEndTheProcessIsFoundOut) {
  const test::TemporaryDirectory directory;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const int fd = ::open((directory / "file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::ftruncate(fd, static_cast<off_t>(2 * page)), 0);
  void* memory = ::mmap(nullptr, 2 * page, PROT_READ, MAP_PRIVATE, fd, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto* bytes = static_cast<const unsigned char*>(memory);
  EXPECT_TRUE(make_readable(bytes + 100, 2 * page - 100));
#ifdef MADV_POPULATE_READ
  if (::madvise(memory, page, MADV_POPULATE_READ) == 0) {     // the kernel has it
    ASSERT_EQ(::ftruncate(fd, static_cast<off_t>(page)), 0);  // as a page that the medium does not give
    EXPECT_TRUE(make_readable(bytes + 100, page - 100));
    EXPECT_FALSE(make_readable(bytes + 100, page));
  }
#endif
  ::munmap(memory, 2 * page);
  ::close(fd);
}

}  // namespace
}  // namespace flor::core
