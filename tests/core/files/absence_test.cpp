// What is not there, and what only cannot be seen.
#include "core/files/absence.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary.h"

namespace flor::core {
namespace {

TEST(Absence, IsNotWhatCannotBeSeen) {
  const test::TemporaryDirectory directory;
  std::ofstream(directory / "file");
  std::filesystem::create_symlink("loop", directory / "loop");
  std::filesystem::create_symlink("nowhere", directory / "dangling");
  EXPECT_FALSE(is_absent(directory / "file"));
  EXPECT_TRUE(is_absent(directory / "nowhere"));
  EXPECT_TRUE(is_absent(directory / "file" / "below"));
  EXPECT_TRUE(is_absent(directory / "dangling"));
  EXPECT_FALSE(is_absent(directory / "loop")) << "ELOOP tells nothing, as EIO and ESTALE";
}

}  // namespace
}  // namespace flor::core
