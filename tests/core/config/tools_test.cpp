// Which program is started as `flor` and `flor-agent`: none that another user put into the way.
#include "core/config/tools.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "core/files/safe_path.h"
#include "support/another_user.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;
using test::attacker;
using test::plant_directory;
using test::plant_file;
using test::victim;

TEST(FindTool, LooksInBinOnlyBesideALibraryDirectory) {
  using Paths = std::vector<fs::path>;
  EXPECT_EQ(directories_beside("/opt/flor/lib/libflor.so"), (Paths{"/opt/flor/lib", "/opt/flor/bin"}));
  EXPECT_EQ(directories_beside("/usr/lib/x86_64-linux-gnu/libflor.so"),
            (Paths{"/usr/lib/x86_64-linux-gnu", "/usr/bin"}));
  EXPECT_EQ(directories_beside("/scratch/ada/libflor.so"), (Paths{"/scratch/ada"}));
}

TEST(FindTool, ReadsTheMappedFile) {
  const std::string line = "7f0000001000-7f0000002000 r-xp 00001000 08:01 42     /opt/my lib/libflor.so";
  EXPECT_EQ(mapped_file(line, 0x7f0000001000), "/opt/my lib/libflor.so");
  EXPECT_EQ(mapped_file(line, 0x7f0000002000), "");
  EXPECT_EQ(mapped_file(line + " (deleted)", 0x7f0000001000), "");
  for (const char* other : {"7f0000001000-7f0000002000 rw-p 00000000 00:00 0 ", "", "x", "1-", "1"})
    EXPECT_EQ(mapped_file(other, 0x7f0000001000), "") << other;
}

void make_program(const fs::path& path, uid_t owner, const char* from = "/bin/true") {
  fs::copy_file(from, path, fs::copy_options::overwrite_existing);
  ::chmod(path.c_str(), 0755);
  ::chown(path.c_str(), owner, owner);
}

// prefix/lib holds the victim's library, prefix/bin the programs; `planted` is the attacker's directory.
class FindingTools : public testing::Test {
 protected:
  void SetUp() override {
    FLOR_NEEDS_ROOT();
    ::chmod(directory.path().c_str(), 01777);
    for (const char* name : {"prefix", "prefix/lib", "prefix/bin"}) plant_directory(directory / name, victim);
    for (const char* name : {"prefix/bin/flor", "prefix/bin/flor-agent"})
      make_program(directory / name, victim);
    make_program(library, victim, FLOR_TOOL_FINDER);
    make_program(directory / "prefix/train", victim, FLOR_TOOL_FINDER_PROGRAM);
    for (const char* name : {"planted", "planted/lib", "planted/bin"})
      plant_directory(directory / name, attacker);
    for (const char* name : {"planted/flor", "planted/flor-agent", "planted/bin/flor",
                             "planted/bin/flor-agent", "planted/lib/flor", "planted/lib/flor-agent"})
      make_program(directory / name, attacker);
    make_program(directory / "planted/lib" / library.filename(), attacker, FLOR_TOOL_FINDER);
  }

  // What the victim's program finds, started as ./train with LD_LIBRARY_PATH=lib.
  std::string found(const fs::path& from = {}, const fs::path& to = {}) {
    return test::as_user(victim, [&]() -> std::string {
      if (::chdir((directory / "prefix").c_str()) != 0) return "no directory";
      ::unsetenv("FLOR_BIN");
      ::setenv("LD_LIBRARY_PATH", libraries.c_str(), 1);
      ::setenv("PATH", path.c_str(), 1);
      std::string command = "./train " + (directory / "planted").string();
      if (!from.empty()) command += " " + from.string() + " " + to.string();
      FILE* out = ::popen(command.c_str(), "r");
      std::string text;
      for (int c = 0; (c = std::fgetc(out)) != EOF;) text += static_cast<char>(c);
      return ::pclose(out) == 0 ? text : "failed";
    });
  }
  std::string in_bin() const {
    const std::string flor = (directory / "prefix/bin/flor").string();
    return flor + "|" + flor + "-agent";
  }

  test::TemporaryDirectory directory;
  const fs::path library = directory / "prefix/lib" / fs::path(FLOR_TOOL_FINDER).filename().string();
  std::string libraries = "lib";
  std::string path = "/nowhere";
};

TEST_F(FindingTools, ALibraryThatWasLoadedByARelativePathLeadsToNoToolOfTheWorkingDirectory) {
  EXPECT_EQ(found(), in_bin());
}

TEST_F(FindingTools, ALibraryThatWasMovedOrRemovedLeadsToNoToolOfTheWorkingDirectory) {
  libraries = (directory / "prefix/lib").string();
  fs::create_directory(directory / "prefix/old");
  ::chown((directory / "prefix/old").c_str(), victim, victim);
  EXPECT_EQ(found(library, directory / "prefix/old/library.so"), "|");
  make_program(library, victim, FLOR_TOOL_FINDER);
  make_program(directory / "prefix/next", victim, FLOR_TOOL_FINDER);
  EXPECT_EQ(found(directory / "prefix/next", library), "|");  // an upgrade: the old file is gone
}

TEST_F(FindingTools, ARelativeDirectoryOfPathDoesNotCount) {
  fs::rename(directory / "prefix/bin", directory / "prefix/tools");
  path = ":.:bin:" + (directory / "prefix/tools").string();
  EXPECT_EQ(found(),
            (directory / "prefix/tools/flor|").string() + (directory / "prefix/tools/flor-agent").string());
}

TEST_F(FindingTools, AToolThatAnotherUserCouldPutBesideTheLibraryIsNotStarted) {
  const fs::path bin = directory / "prefix/bin";
  ::chown((bin / "flor").c_str(), attacker, attacker);
  EXPECT_EQ(found(), "|" + (bin / "flor-agent").string());
  ::chown((bin / "flor").c_str(), victim, victim);
  ::chmod(bin.c_str(), 0777);
  EXPECT_EQ(found(), "|");
  ::chmod(bin.c_str(), 0775);  // a group without a name
  EXPECT_EQ(found(), "|");
  ::chmod(bin.c_str(), 0755);
  EXPECT_EQ(found(), in_bin());
  fs::remove(bin / "flor");
  test::plant_link(bin / "flor", directory / "planted/flor", attacker);
  EXPECT_EQ(found(), "|" + (bin / "flor-agent").string());
}

TEST_F(FindingTools, ADirectoryWhereOthersMayPutAToolIsNotPassedOn) {
  const fs::path bin = directory / "prefix/bin";
  const auto passed_on = [&](const fs::path& binary) {
    return test::as_user(victim, [&] { return safe_directory_of(binary).string(); });
  };
  EXPECT_EQ(passed_on(bin / "flor"), bin.string());
  for (const mode_t mode : {01777, 01775, 0777}) {
    ::chmod(bin.c_str(), mode);
    EXPECT_EQ(passed_on(bin / "flor"), "") << mode;
  }
  EXPECT_EQ(passed_on(directory / "planted/flor"), (directory / "planted").string())
      << "its owner is trusted by who starts it";
}

TEST(SafePath, IsNoOneElses) {
  FLOR_NEEDS_ROOT();
  const test::TemporaryDirectory directory;
  ::chmod(directory.path().c_str(), 01777);
  plant_file(directory / "mine", "", victim);
  plant_file(directory / "theirs", "", attacker);
  test::plant_link(directory / "link", directory / "mine", attacker);
  const auto is_safe = [&](const char* name) {
    return test::as_user(victim, [&] { return is_safe_path(directory / name) ? "safe" : "not safe"; });
  };
  EXPECT_EQ(is_safe("mine"), "safe");
  EXPECT_EQ(is_safe("theirs"), "not safe");
  EXPECT_EQ(is_safe("link"), "not safe");
  EXPECT_EQ(is_safe("missing"), "not safe");
  test::plant_link(directory / "through", directory / "link", victim);  // ours, theirs, ours
  EXPECT_EQ(is_safe("through"), "not safe");
  test::plant_link(directory / "own", "mine", victim);
  test::plant_link(directory / "twice", directory / "own", victim);
  EXPECT_EQ(is_safe("twice"), "safe");
  test::plant_link(directory / "endless", "endless", victim);
  EXPECT_EQ(is_safe("endless"), "not safe");
  ::chmod((directory / "mine").c_str(), 0666);
  EXPECT_EQ(is_safe("mine"), "not safe");
}

}  // namespace
}  // namespace flor::core
