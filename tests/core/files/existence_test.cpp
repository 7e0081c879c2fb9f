#include "core/files/existence.h"

#include <gtest/gtest.h>

#include <fstream>
#include <system_error>

#include "support/interposed.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;

TEST(Existence, IsToldByTheFileSystem) {
  const test::TemporaryDirectory directory;
  std::ofstream(directory / "file").flush();
  fs::create_symlink("nowhere", directory / "link");
  for (const char* name : {".", "file", "link"}) {
    EXPECT_TRUE(is_there(directory / name)) << name;
    EXPECT_FALSE(is_absent(directory / name)) << name;
  }
  for (const char* name : {"nothing", "nothing/file", "file/file"}) {
    EXPECT_FALSE(is_there(directory / name)) << name;
    EXPECT_TRUE(is_absent(directory / name)) << name;
  }
}

TEST(Existence, IsUnknownWhereTheFileServerFails) {
  const test::TemporaryDirectory directory;
  std::ofstream(directory / "file").flush();
  const test::Interposing failing;
  failing->hidden = "/file";
  for (const int error : {EIO, ESTALE, ETIMEDOUT, EACCES, ELOOP}) {
    failing->hidden_by = error;
    EXPECT_EQ(existence_of(directory / "file"), std::nullopt) << error;
    EXPECT_EQ(errno, error);
    EXPECT_FALSE(is_absent(directory / "file")) << error;
    try {
      is_there(directory / "file");
      ADD_FAILURE() << error;
    } catch (const std::system_error& problem) {
      EXPECT_EQ(problem.code().value(), error);
      EXPECT_NE(std::string(problem.what()).find((directory / "file").string()), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace flor::core
