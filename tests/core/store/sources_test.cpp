// Which files are copied into a record as a program's sources: none that another user led there.
#include "core/store/sources.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/digest.h"
#include "core/files/durable.h"
#include "core/store/source_copies.h"
#include "support/another_user.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

using test::attacker;
using test::plant_directory;
using test::plant_file;
using test::victim;

// `shared` is everyone's, as /scratch is. The victim's program lies in shared/project/bin.
class FoundSources : public testing::Test {
 protected:
  void SetUp() override {
    FLOR_NEEDS_ROOT();
    ::chmod(directory.path().c_str(), 0755);
    plant_directory(directory / "shared", 0, 01777);
    plant_directory(directory / "home", victim, 0700);
    plant_file(directory / "home/secret", "secret", victim);
    plant_directory(project, victim);
    plant_directory(project / "bin", victim);
    fs::copy_file(FLOR_SOURCES_PROGRAM, program);
    ::chown(program.c_str(), victim, victim);
  }

  void put(const char* name, const std::string& text, uid_t owner = victim) {
    const fs::path path = directory / name;
    if (!fs::exists(path.parent_path())) plant_directory(path.parent_path(), owner);
    plant_file(path, text, owner);
  }

  // "FILES;UNRESOLVED;WITHHELD", as the victim finds them from the working directory `here`.
  std::string found(const fs::path& here = "/") {
    return test::as_user(victim, [&]() -> std::string {
      if (::chdir(here.c_str()) != 0) return "no directory";
      const SourceScan scan = scan_sources(program);
      std::string out;
      for (const auto& file : scan.files) out += shown(file.path) + " ";
      out += ";";
      for (const auto& name : scan.unresolved) out += name + " ";
      out += ";";
      for (const auto& path : scan.withheld) out += shown(path) + " ";
      return out;
    });
  }
  std::string shown(const std::string& path) const {
    return fs::path(path).lexically_relative(fs::canonical(directory.path())).string();
  }

  test::TemporaryDirectory directory;
  const fs::path project = directory / "shared/project";
  const fs::path program = project / "bin/train";
};

TEST_F(FoundSources, AreThoseOfTheProgramsOwnProject) {
  put("shared/project/train.cpp", "#include \"model.h\"\n#include \"../project/src/loss.h\"\n");
  put("shared/project/include/model.h", "");
  put("shared/project/src/loss.h", "");
  EXPECT_EQ(found(), "shared/project/include/model.h shared/project/src/loss.h shared/project/train.cpp ;;");
  put("shared/project/src/train.h", "");
  put("shared/project/src/deep/main.h", "#include \"../train.h\"");
  put("shared/project/train.cpp", "#include \"deep/main.h\"\n");
  EXPECT_EQ(found(), "shared/project/src/deep/main.h shared/project/src/train.h shared/project/train.cpp ;;");
}

TEST_F(FoundSources, ASourcePlantedInTheWorkingDirectoryIsNotTaken) {
  put("shared/train.cpp", "#include \"" + (directory / "home/secret").string() + "\"\n", attacker);
  EXPECT_EQ(found(directory / "shared"), ";train.cpp ;shared/train.cpp ");
  // Not the victim's either: others can link it there.
  put("shared/train.cpp", "", victim);
  EXPECT_EQ(found(directory / "shared"), ";train.cpp ;shared/train.cpp ");
  put("shared/project/train.cpp", "");
  EXPECT_EQ(found(directory / "shared"), "shared/project/train.cpp ;;");
}

TEST_F(FoundSources, AHeaderPlantedAboveTheProjectIsNotTaken) {
  put("shared/project/train.cpp", "#include \"config.h\"\n");
  put("shared/include/config.h", "#include \"" + (directory / "home/secret").string() + "\"\n", attacker);
  EXPECT_EQ(found(), "shared/project/train.cpp ;config.h ;");
}

TEST_F(FoundSources, ALinkThatAnotherUserPlantedLeadsToNoFileOfOurs) {
  put("shared/project/train.cpp", "#include \"sub/config.h\"\n");
  plant_directory(project / "sub", victim, 01777);
  test::plant_link(project / "sub/config.h", directory / "home/secret", attacker);
  EXPECT_EQ(found(), "shared/project/train.cpp ;sub/config.h ;shared/project/sub/config.h ");
  ::chmod((project / "sub").c_str(), 0755);  // the link was made before
  EXPECT_EQ(found(), "shared/project/train.cpp ;sub/config.h ;shared/project/sub/config.h ");
}

TEST_F(FoundSources, AnIncludeByAnAbsolutePathOrOutOfTheProjectIsNotTaken) {
  const std::string secret = (directory / "home/secret").string();
  put("shared/project/train.cpp", "#include \"" + secret + "\"\n#include \"../../home/secret\"\n");
  EXPECT_EQ(found(), "shared/project/train.cpp ;../../home/secret " + secret + " ;");
}

TEST_F(FoundSources, WhatAGroupCanWriteIsLeftOutAndNamed) {
  put("shared/project/train.cpp", "#include \"config.h\"\n");
  put("shared/project/include/config.h", "");
  ::chmod((project / "include").c_str(), 0775);
  EXPECT_EQ(found(), "shared/project/train.cpp ;config.h ;shared/project/include/config.h ");
}

TEST_F(FoundSources, WhatIsLeftOutIsReplacedByTheProgramsDigest) {
  put("shared/project/train.cpp", "");
  const auto digest_recorded = [&](const char* name) {
    const RunDir run{directory / name};
    fs::create_directory(run.path);
    Manifest manifest;
    manifest.binary = program.string();
    copy_sources(scan_sources(program), run, manifest);
    return manifest.binary_digest;
  };
  EXPECT_EQ(digest_recorded("run1"), "");
  ::chmod(project.c_str(), 0775);
  EXPECT_EQ(digest_recorded("run2"), digest_of(read_file(program)));
}

TEST_F(FoundSources, AreThoseOfADirectoryThatNoOneElseCanEnter) {
  const fs::path own = directory / "home/lab";
  plant_directory(own, victim);
  plant_directory(own / "bin", victim);
  fs::copy_file(FLOR_SOURCES_PROGRAM, own / "bin/train");
  ::chown((own / "bin/train").c_str(), victim, victim);
  put("home/lab/train.cpp", "");
  ::chmod(own.c_str(), 0775);
  const auto found_there = [&] {
    return test::as_user(victim, [&] {
      const SourceScan scan = scan_sources(own / "bin/train");
      return std::to_string(scan.files.size()) + " taken, " + std::to_string(scan.withheld.size()) +
             " withheld";
    });
  };
  EXPECT_EQ(found_there(), "1 taken, 0 withheld");
  ::chmod((directory / "home").c_str(), 0710);
  EXPECT_EQ(found_there(), "0 taken, 0 withheld");
}

TEST_F(FoundSources, AreThoseOfTheProgramsOwnerToo) {
  // Root in a container that shows the user's files with their number.
  put("shared/project/train.cpp", "");
  const SourceScan scan = scan_sources(program);
  ASSERT_EQ(scan.files.size(), 1U);
  EXPECT_EQ(shown(scan.files.front().path), "shared/project/train.cpp");
}

TEST_F(FoundSources, ACopyIsAsClosedAsTheFile) {
  put("shared/project/train.cpp", "private");
  for (const mode_t mode : {0600U, 0640U, 0444U, 0644U}) {
    ::chmod((project / "train.cpp").c_str(), mode);
    const RunDir run{directory / ("run" + std::to_string(mode))};
    fs::create_directory(run.path);
    Manifest manifest;
    copy_sources(scan_sources(program), run, manifest);
    ASSERT_EQ(manifest.sources.size(), 1U);
    struct stat info = {};
    ASSERT_EQ(::stat((run.path / manifest.sources.front().file).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600 | (mode & 0444)) << mode;
  }
}

}  // namespace
}  // namespace flor::core
