// Which files are copied into a record as a program's sources: none that another user led there.
#include "core/sources/sources.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "core/base/digest.h"
#include "core/files/durable.h"
#include "core/sources/source_copies.h"
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

TEST_F(FoundSources, AreTheProjectsOwnAlsoInAngleBrackets) {
  put("shared/project/train.cpp",
      "#include <my/stats.h>\n#include <vector>\n#include <torch/torch.h>\n#include <zlib.h>\n");
  put("shared/project/include/my/stats.h", "");
  EXPECT_EQ(found(), "shared/project/include/my/stats.h shared/project/train.cpp ;;");
  put("shared/project/train.cpp", "#include <own/rate.h>\n");
  put("shared/project/headers/own/rate.h", "");
  EXPECT_EQ(found(), "shared/project/headers/own/rate.h shared/project/train.cpp ;;");
  put("shared/project/train.cpp", "#include <my/stats.h>\n");
  ::chmod((project / "include/my").c_str(), 0777);
  EXPECT_EQ(found(), "shared/project/train.cpp ;my/stats.h ;shared/project/include/my/stats.h ");
}

// The program was compiled from support/sources_program.cpp, which does not include <flor/flor.h>.
TEST_F(FoundSources, AreUnitsThatKnowNothingOfFlor) {
  put("shared/project/train.cpp", "");
  put("shared/project/src/sources_program.cpp", "#include \"rate.h\"\n");
  put("shared/project/src/rate.h", "");
  EXPECT_EQ(found(),
            "shared/project/src/rate.h shared/project/src/sources_program.cpp shared/project/train.cpp ;;");
}

// The compiler read what is withheld, and not another file of that name.
TEST_F(FoundSources, WhatIsLeftOutIsReplacedByNoOtherFileOfItsName) {
  put("shared/project/train.cpp", "#include \"config.h\"\n#include \"features.h\"\n");
  put("shared/project/include/config.h", "");
  put("shared/project/include/features.h", "");  // /usr/include has one, too
  put("shared/project/src/config.h", "");
  ::chmod((project / "include").c_str(), 0777);
  EXPECT_EQ(found(),
            "shared/project/train.cpp ;config.h features.h ;"
            "shared/project/include/config.h shared/project/include/features.h ");
}

TEST_F(FoundSources, WhatIsLeftOutIsReplacedByTheProgramsDigest) {
  put("shared/project/train.cpp", "");
  const auto digest_recorded = [&](const char* name) {
    const RunDir run{directory / name};
    fs::create_directory(run.path);
    Manifest manifest;
    manifest.binary = program.string();
    copy_sources(scan_sources(program), run, manifest, program);
    return manifest.binary_digest;
  };
  EXPECT_EQ(digest_recorded("run1"), "");
  ::chmod(project.c_str(), 0777);
  EXPECT_EQ(digest_recorded("run2"), digest_of(read_file(program)));
}

TEST_F(FoundSources, AProgramThatCannotBeReadIsRecordedAndCountsAsAnother) {
  const RunDir run{directory / "run"};
  fs::create_directory(run.path);
  Manifest manifest;
  EXPECT_FALSE(is_another_program(manifest, program)) << "all its sources are recorded";
  const auto recorded_from = [&](const fs::path& path) {
    SourceScan scan;
    scan.unresolved = {"train.cpp"};
    manifest = Manifest();
    copy_sources(scan, run, manifest, path);
  };
  recorded_from(program);
  EXPECT_FALSE(is_another_program(manifest, program));
  EXPECT_TRUE(is_another_program(manifest, directory / "gone"));
  EXPECT_TRUE(is_another_program(manifest, "/bin/sh"));
  recorded_from(directory / "gone");
  EXPECT_TRUE(is_another_program(manifest, directory / "gone"));
  EXPECT_TRUE(is_another_program(manifest, program));
}

// Its linker removes the file of a program that still loads its data.
TEST_F(FoundSources, AProgramThatWasBuiltAgainIsStillRead) {
  const fs::path copy = directory / "copy";
  fs::copy_file("/bin/sleep", copy);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(copy.c_str(), "sleep", "60", nullptr);
    ::_exit(127);
  }
  const fs::path running = "/proc/" + std::to_string(child) + "/exe";
  std::error_code ignored;
  while (!fs::equivalent(running, copy, ignored)) std::this_thread::yield();
  const std::string digest = digest_of(read_file(copy));
  fs::remove(copy);
  Manifest manifest;
  SourceScan scan;
  scan.unresolved = {"train.cpp"};
  const RunDir run{directory / "run"};
  fs::create_directory(run.path);
  copy_sources(scan, run, manifest, running);
  EXPECT_EQ(manifest.binary_digest, digest);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(FoundSources, AreThoseOfADirectoryThatNoOneElseCanEnter) {
  const fs::path own = directory / "home/lab";
  plant_directory(own, victim);
  plant_directory(own / "bin", victim);
  fs::copy_file(FLOR_SOURCES_PROGRAM, own / "bin/train");
  ::chown((own / "bin/train").c_str(), victim, victim);
  put("home/lab/train.cpp", "");
  ::chmod(own.c_str(), 0777);
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

// The project of a team lies in a directory of its head's, which all members can write.
class TeamSources : public FoundSources {
 protected:
  static constexpr gid_t team = 54400;
  static constexpr uid_t head = 54401, colleague = 54402;

  void SetUp() override {
    FoundSources::SetUp();
    if (IsSkipped()) return;
    give(directory / "shared/lab", head, 02775);
    give(directory / "shared/lab/src", colleague, 02775);
    give(directory / "shared/lab/build", victim, 02775);
    fs::copy_file(FLOR_SOURCES_PROGRAM, directory / "shared/lab/build/train");
    ::chown((directory / "shared/lab/build/train").c_str(), victim, team);
  }
  void give(const fs::path& path, uid_t owner, mode_t mode) const {
    if (!fs::exists(path)) fs::create_directory(path);
    ::chown(path.c_str(), owner, team);
    ::chmod(path.c_str(), mode);
  }
  std::string found_there() {
    return test::as_user(victim, [&] {
      std::string out;
      const SourceScan scan = scan_sources(directory / "shared/lab/build/train");
      for (const auto& file : scan.files) out += shown(file.path) + " ";
      for (const auto& path : scan.withheld) out += "without " + shown(path) + " ";
      return out;
    });
  }
};

TEST_F(TeamSources, AreTakenWhoeverOfTheTeamWroteThem) {
  put("shared/lab/train.cpp", "#include \"model.h\"\n#include \"loss.h\"\n");
  put("shared/lab/src/model.h", "", colleague);
  put("shared/lab/src/loss.h", "", head);
  EXPECT_EQ(found_there(), "shared/lab/src/loss.h shared/lab/src/model.h shared/lab/train.cpp ");
}

TEST_F(TeamSources, AMembersLinkLeadsToNoFileOfOurs) {
  put("shared/lab/train.cpp", "#include \"model.h\"\n");
  test::plant_link(directory / "shared/lab/src/model.h", directory / "home/secret", colleague);
  EXPECT_EQ(found_there(), "shared/lab/train.cpp without shared/lab/src/model.h ");
}

TEST_F(TeamSources, AreNotWhatAnotherGroupOrEveryoneCanWrite) {
  put("shared/lab/train.cpp", "#include \"model.h\"\n");
  put("shared/lab/src/model.h", "", colleague);
  ::chmod((directory / "shared/lab/src").c_str(), 02777);
  EXPECT_EQ(found_there(), "shared/lab/train.cpp without shared/lab/src/model.h ");
  ::chown((directory / "shared/lab/src").c_str(), colleague, attacker);
  ::chmod((directory / "shared/lab/src").c_str(), 02775);
  EXPECT_EQ(found_there(), "shared/lab/train.cpp without shared/lab/src/model.h ");
}

// With the sticky bit the members cannot put another program in the place of this one.
TEST_F(TeamSources, MembersWhoCannotReplaceTheProgramWriteNoneOfItsSources) {
  give(directory / "shared/lab", head, 03775);
  give(directory / "shared/lab/build", victim, 0755);
  ::chown((directory / "shared/lab/build").c_str(), victim, victim);
  put("shared/lab/build/train.cpp", "#include \"../src/model.h\"\n");
  put("shared/lab/src/model.h", "", colleague);
  EXPECT_EQ(found_there(), "shared/lab/build/train.cpp ");
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
  int runs = 0;
  const auto mode_of_copy = [&](mode_t mode, mode_t above, gid_t group) {
    const fs::path source = project / "train.cpp";
    EXPECT_EQ(::chown(source.c_str(), victim, group), 0);
    ::chmod(source.c_str(), mode);
    ::chmod(project.c_str(), above);
    const RunDir run{directory / ("run" + std::to_string(runs++))};
    fs::create_directory(run.path);
    Manifest manifest;
    copy_sources(scan_sources(program), run, manifest, program);
    ::chmod(project.c_str(), 0755);
    struct stat info = {};
    EXPECT_EQ(manifest.sources.size(), 1U);
    EXPECT_EQ(::stat((run.path / manifest.sources.at(0).file).c_str(), &info), 0);
    return info.st_mode & 0777;
  };
  const gid_t own = ::getegid();
  for (const mode_t mode : {0600U, 0640U, 0644U}) EXPECT_EQ(mode_of_copy(mode, 0755, own), mode);
  EXPECT_EQ(mode_of_copy(0444, 0755, own), 0644U);
  EXPECT_EQ(mode_of_copy(0640, 0755, victim), 0600U) << "the copy's group is another one";
  EXPECT_EQ(mode_of_copy(0644, 0700, own), 0600U) << "no one else comes to the file";
}

}  // namespace
}  // namespace flor::core
