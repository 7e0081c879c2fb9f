// Directories of this user in places where others may write.
#include "core/files/private_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "support/another_user.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;

TEST(PrivateDirectory, AnotherUsersOfTheSameNameGivesWayToASibling) {
  FLOR_NEEDS_ROOT();
  const test::TemporaryDirectory folder;
  ::chmod(folder.path().c_str(), 01777);
  const fs::path wanted = folder.path() / ("flor-" + std::to_string(::getuid()));
  test::plant_directory(wanted, test::attacker);
  test::plant_directory(wanted.string() + ".000000", test::attacker);
  const fs::path own = own_directory_in(folder.path());
  EXPECT_EQ(own.string().rfind(wanted.string() + ".", 0), 0U) << own;
  EXPECT_NE(own.string(), wanted.string() + ".000000");
  EXPECT_NO_THROW(make_private_directory(own, ""));
  EXPECT_EQ(own_directory_in(folder.path()), own) << "whoever asks later finds the same one";
}

TEST(PrivateDirectory, IsMadeWhereItIsMissing) {
  const test::TemporaryDirectory folder;
  const fs::path own = own_directory_in(folder.path());
  EXPECT_EQ(own, folder.path() / ("flor-" + std::to_string(::getuid())));
  EXPECT_NO_THROW(make_private_directory(own, ""));
  // There is no directory to make it in.
  EXPECT_THROW(make_private_directory(own_directory_in(folder.path() / "missing"), ""), Error);
}

}  // namespace
}  // namespace flor::core
