// Which folder is put in front of a Python program's path: none that another user put beside the commands.
#include "core/config/python_hook.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/another_user.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;
using test::attacker;
using test::plant_directory;
using test::plant_file;
using test::victim;

// PREFIX/bin/flor and PREFIX/python, of the users that are given.
void make_commands(const fs::path& prefix, uid_t user) {
  for (const char* name : {"", "bin"}) plant_directory(prefix / name, user);
  plant_file(prefix / "bin/flor", "", user);
}
void make_hook(const fs::path& prefix, uid_t user) {
  for (const char* name : {"python", "python/flor", "python/flor-hook"}) plant_directory(prefix / name, user);
  plant_file(prefix / "python/flor-hook/sitecustomize.py", "", user);
}

class PythonFolder : public testing::Test {
 protected:
  void SetUp() override {
    FLOR_NEEDS_ROOT();
    ::chmod(directory.path().c_str(), 01777);
  }
  std::string found(const std::vector<fs::path>& bins) const {
    return test::as_user(victim, [&] { return python_folder(bins); });
  }
  test::TemporaryDirectory directory;
};

TEST_F(PythonFolder, IsThatOfTheFirstCommandsThatHaveOne) {
  for (const char* name : {"a", "b", "c"}) make_commands(directory / name, victim);
  for (const char* name : {"b", "c"}) make_hook(directory / name, victim);
  const fs::path b = directory / "b";
  EXPECT_EQ(found({directory / "a/bin", b / "bin", directory / "c/bin"}), (b / "python").string());
  EXPECT_EQ(found({"b/bin", "", "/nowhere"}), "");
}

TEST_F(PythonFolder, IsThatOfWhoeverOwnsTheCommands) {
  constexpr uid_t colleague = 54323;
  make_commands(directory / "team", colleague);
  make_hook(directory / "team", colleague);
  EXPECT_EQ(found({directory / "team/bin"}), (directory / "team/python").string());
  // And of the group that may replace them.
  for (const char* name : {"team", "team/bin", "team/python", "team/python/flor", "team/python/flor-hook"})
    ::chmod((directory / name).c_str(), 0775);
  EXPECT_EQ(found({directory / "team/bin"}), (directory / "team/python").string());
}

TEST_F(PythonFolder, IsNoneThatAnotherUserPutBesideADirectoryOfPath) {
  plant_directory(directory / "open", victim, 01777);
  plant_directory(directory / "open/bin", victim);
  make_hook(directory / "open", attacker);
  EXPECT_EQ(found({directory / "open/bin"}), "");  // without commands
  plant_file(directory / "open/bin/flor", "", victim);
  EXPECT_EQ(found({directory / "open/bin"}), "");
}

TEST_F(PythonFolder, IsNoneWhereOthersMayPutAFile) {
  make_commands(directory / "mine", victim);
  make_hook(directory / "mine", victim);
  const fs::path python = directory / "mine/python";
  ASSERT_EQ(found({directory / "mine/bin"}), python.string());
  for (const char* name : {"", "flor", "flor-hook"}) {
    ::chmod((python / name).c_str(), 01777);
    EXPECT_EQ(found({directory / "mine/bin"}), "") << name;
    ::chmod((python / name).c_str(), 0755);
  }
}

TEST_F(PythonFolder, HasNoColonInItsName) {
  make_commands(directory / "a:b", victim);
  make_hook(directory / "a:b", victim);
  EXPECT_EQ(found({directory / "a:b/bin"}), "");
}

}  // namespace
}  // namespace flor::core
