// What another user put into a store: it hangs no one, leads nowhere, and is taken for nothing of ours.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "core/base/error.h"
#include "core/checkpoint/header.h"
#include "core/checkpoint/reader.h"
#include "core/config/preset.h"
#include "core/files/durable.h"
#include "core/files/json_lines.h"
#include "core/files/shared_directory.h"
#include "core/files/trusted_file.h"
#include "core/log/row_file.h"
#include "core/resuming/earlier_run.h"
#include "core/store/manifest.h"
#include "core/store/store.h"
#include "support/another_user.h"
#include "support/interposed.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

using test::as_user;
using test::attacker;
using test::plant_directory;
using test::plant_file;
using test::plant_link;
using test::victim;

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& problem) {
    return problem.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(TrustedFile, AFifoALinkAndAnEndlessFileAreNotRead) {
  const test::TemporaryDirectory directory;
  const fs::path path = directory / "run.json";
  ASSERT_EQ(::mkfifo(path.c_str(), 0666), 0);
  EXPECT_TRUE(has(error_of([&] { read_file(path); }), "is no regular file"));
  EXPECT_FALSE(is_locked(path));
  EXPECT_TRUE(has(error_of([&] { FileLock::try_take(path); }), "is no regular file"));
  fs::remove(path);
  fs::create_symlink("/dev/zero", path);
  EXPECT_TRUE(has(error_of([&] { read_file(path); }), "is a symbolic link"));
  EXPECT_TRUE(has(error_of([&] { read_named_file(path); }), "is no regular file"));
  fs::remove(path);
  write_durably(path, "{}");
  EXPECT_EQ(read_file(path), "{}");
  EXPECT_TRUE(has(error_of([&] { read_file(path, 1); }), "holds more than 1 bytes"));
}

TEST(TrustedFile, NothingIsWrittenThroughALink) {
  const test::TemporaryDirectory directory;
  const fs::path precious = directory / "precious";
  fs::create_symlink(precious, directory / "log.jsonl");
  EXPECT_TRUE(
      has(error_of([&] { LineAppender(directory / "log.jsonl").append("{}\n"); }), "is a symbolic link"));
  EXPECT_TRUE(has(error_of([&] { FileLock::take(directory / "log.jsonl"); }), "is a symbolic link"));
  EXPECT_FALSE(fs::exists(precious));
}

TEST(TrustedFile, AnotherUsersIsReadOnlyUpToALimit) {
  FLOR_NEEDS_ROOT();
  const test::TemporaryDirectory directory;
  ::chmod(directory.path().c_str(), 0755);
  const auto log = directory / "log.jsonl";
  plant_file(log, "", attacker);
  fs::resize_file(log, foreign_limit + 1);  // takes no space
  EXPECT_TRUE(has(as_user(victim, [&] { return read_file(log); }), "bytes and is not read"));
}

TEST(TrustedFile, ACheckpointNamesNoFileOutsideOfItsRun) {
  for (const char* file : {"../other/checkpoints/a.safetensors", "/etc/passwd", "checkpoints/../../x"}) {
    CheckpointHeader header;
    header.tensors.push_back({"held", "U8", {4}, std::string(32, '0'), 0, 0, file, "own"});
    const std::string text = encode_header(header);
    EXPECT_TRUE(has(error_of([&] {
                      decode_header(reinterpret_cast<const unsigned char*>(text.data()), text.size(), "a");
                    }),
                    "outside of the run"))
        << file;
  }
}

TEST(TrustedFile, ARowNamesNoCheckpointOutsideOfItsRun) {
  const test::TemporaryDirectory directory;
  const RunDir run{directory / "run"};
  fs::create_directories(run.checkpoints());
  std::ofstream(directory / "a.safetensors") << "x";
  for (const std::string& file : {std::string("../a.safetensors"), (directory / "a.safetensors").string(),
                                  std::string("checkpoints/a/\0b", 16), std::string("checkpoints/a/../b"),
                                  std::string("checkpoints/a/b/c"), std::string("checkpoints/a")}) {
    EXPECT_TRUE(has(error_of([&] { Checkpoint::header_of(run, file); }), "no file of the run's checkpoints"))
        << file;
  }
}

TEST(TrustedFile, NoNameHoldsANul) {
  const test::TemporaryDirectory directory;
  EXPECT_TRUE(
      has(error_of([&] { write_durably(directory / std::string(".profile\0x", 10), "x"); }), "holds a NUL"));
  EXPECT_TRUE(fs::is_empty(directory.path()));
  EXPECT_TRUE(holds_nul(parse_json(R"({"a": [{"b": "x\u0000"}]})")));
  EXPECT_TRUE(holds_nul(parse_json(R"({"a\u0000": 1})")));
  EXPECT_FALSE(holds_nul(parse_json(R"({"a": [{"b": "\\u0000"}], "c": 0})")));
}

TEST(Preset, OnlyKnownNamesBecomeAnEnvironment) {
  const std::map<std::string, std::string> recorded{{"OMP_NUM_THREADS", "4"},
                                                    {"LD_PRELOAD", "/tmp/evil.so"},
                                                    {"PATH", "/tmp"},
                                                    {"OPENBLAS_CORETYPE", "a\nLD_PRELOAD=/tmp/evil.so"}};
  const std::map<std::string, std::string> known{{"OMP_NUM_THREADS", "4"}};
  EXPECT_EQ(known_preset(recorded), known);
}

// A store as several users share it.
class Shared : public testing::Test {
 protected:
  void SetUp() override {
    FLOR_NEEDS_ROOT();
    ::chmod(directory.path().c_str(), 01777);
  }
  void make_run(const std::string& id, uid_t owner) {
    plant_directory(directory / id, owner);
    Manifest manifest;
    manifest.id = id;
    write_manifest(store.run(id), manifest);
    ::chown(store.run(id).manifest().c_str(), owner, owner);
  }
  std::string as_victim(const std::function<std::string()>& body) { return as_user(victim, body); }
  const std::string uid = std::to_string(victim);
  test::TemporaryDirectory directory;
  Store store{directory.path()};
};

TEST_F(Shared, APlantedLaunchNeitherSuppressesARecordingNorIsResumed) {
  plant_directory(directory / ".launches", attacker, 01777);
  for (const char* launch : {"42.0.0", "42.0.1"})
    plant_file(directory / ".launches" / launch, "evil\n", attacker);
  make_run("evil", attacker);
  EXPECT_EQ(as_victim([&] { return store.launched("42.0.0").value_or("nothing"); }), "nothing");
  EXPECT_EQ(as_victim([&] { return store.claim_launch("42.0.1", "mine") ? "taken" : "refused"; }), "taken");
  EXPECT_EQ(as_victim([&] { return store.launched("42.0.1").value_or("nothing"); }), "mine");
  struct stat info = {};
  ASSERT_EQ(::lstat((directory / ".launches" / uid).c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, victim);
  EXPECT_EQ(info.st_mode & 07777, 0755U);
}

TEST_F(Shared, ARunThatHasTheNameOfALabelDoesNotHideIt) {
  make_run("mine", victim);
  make_run("baseline", attacker);
  EXPECT_EQ(as_victim([&] { return store.find("baseline").id(); }), "baseline");
  EXPECT_EQ(as_victim([&] { return store.claim_label("baseline", "mine") ? "taken" : "refused"; }), "taken");
  EXPECT_EQ(as_victim([&] { return store.find("baseline").id(); }), "mine");
  fs::remove_all(store.run("mine").path);
  EXPECT_TRUE(
      has(as_victim([&] { return store.find("baseline").id(); }), "is that of run mine, which is no longer"));
}

TEST_F(Shared, AnotherUsersRunIsNotReplayed) {
  make_run("theirs", attacker);
  make_run("mine", victim);
  EXPECT_EQ(as_victim([&] { return store.find_own("mine").id(); }), "mine");
  EXPECT_TRUE(has(as_victim([&] { return store.find_own("theirs").id(); }), "is another user's"));
}

TEST_F(Shared, NoOtherUserCanHoldALock) {
  const fs::path path = directory / "run.lock";
  const test::Interposing interposing;
  const auto is_closed = [&] {
    struct stat info = {};
    EXPECT_EQ(::lstat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600U);
  };
  interposing->at_flock = is_closed;
  { const FileLock lock = FileLock::create(path); }
  EXPECT_THROW(FileLock::create(path), std::system_error);
  fs::remove(path);
  { const auto lock = FileLock::try_take(path); }
  EXPECT_EQ(interposing->changed_modes, 0) << "it was open to others for a moment";
  fs::permissions(path, static_cast<fs::perms>(0644));  // as earlier versions left it
  { const auto lock = FileLock::try_take(path); }
  is_closed();
  EXPECT_EQ(as_victim([&] { return lock_held(path) ? "told" : "not told"; }), "not told");
}

TEST_F(Shared, ASquattedDirectoryOfLaunchesOrLabelsIsSaid) {
  for (const std::string kind : {".launches", ".names"}) {
    plant_directory(directory / kind, 0, 01777);
    plant_directory(directory / kind / uid, attacker, 0777);
    const std::string said = as_victim([&] {
      store.require_writable();
      return std::string("nothing");
    });
    EXPECT_TRUE(
        has(said, (directory / kind / uid).string() + " is another user's (uid 54322); its owner or root"))
        << said;
    fs::remove_all(directory / kind / uid);
    plant_link(directory / kind / uid, directory.path(), attacker);
    EXPECT_TRUE(has(as_victim([&] {
                      store.require_writable();
                      return std::string("nothing");
                    }),
                    "is no directory"));
    fs::remove_all(directory / kind);
  }
}

// As where the first user of a store makes the directory with `mkdir`.
TEST_F(Shared, ADirectoryOfLaunchesOrLabelsThatIsClosedToOthersIsSaid) {
  const auto use = [&] {
    store.require_writable();
    return std::string("used");
  };
  for (const std::string kind : {".launches", ".names"}) {
    plant_directory(directory / kind, attacker, 0755);
    const std::string said = as_victim(use);
    EXPECT_TRUE(has(said, (directory / kind).string() + " is closed to this user by its owner (uid 54322)"))
        << said;
    EXPECT_TRUE(has(said, "chmod 1777 " + (directory / kind).string())) << said;
    ::chmod((directory / kind).c_str(), 01777);
    EXPECT_EQ(as_victim(use), "used");
    ::chmod((directory / kind).c_str(), 0755);
    EXPECT_EQ(as_victim(use), "used") << "it has the user's own already";
    for (const char* made : {".launches", ".names"}) fs::remove_all(directory / made);
  }
}

TEST_F(Shared, ASquattedLaunchIsSaidWhenItIsTaken) {
  plant_directory(directory / ".launches", attacker, 01777);
  plant_directory(directory / ".launches" / uid, attacker, 0777);
  plant_file(directory / ".launches" / uid / "42.0.0", "evil\n", attacker);
  const auto claim = [&] { return std::string(store.claim_launch("42.0.0", "mine") ? "taken" : "refused"); };
  EXPECT_TRUE(has(as_victim(claim), "is another user's"));
  EXPECT_TRUE(has(as_victim([&] { return store.launched("42.0.0").value_or(""); }), "is another user's"));
}

TEST_F(Shared, APlantedLabelNamesNoRun) {
  make_run("evil", attacker);
  make_run("mine", victim);
  plant_directory(directory / ".names", 0, 01777);
  plant_directory(directory / ".names" / uid, attacker, 0777);
  plant_link(directory / ".names" / uid / "baseline", "../../evil", attacker);
  const auto found = [&] { return store.find("baseline").id(); };
  EXPECT_TRUE(has(as_victim(found), "is another user's"));
  // The directory is the victim's, the label another's: from when it was open to a group.
  ::chown((directory / ".names" / uid).c_str(), victim, victim);
  EXPECT_TRUE(has(as_victim(found), "there is no run 'baseline'"));
  // The label is the victim's, the run has come to be another's.
  plant_link(directory / ".names" / uid / "moved", "../../evil", victim);
  EXPECT_TRUE(has(as_victim([&] { return store.find("moved").id(); }), "is another user's"));
  plant_link(directory / ".names" / uid / "own", "../../mine", victim);
  EXPECT_EQ(as_victim([&] { return store.find("own").id(); }), "mine");
}

TEST_F(Shared, ADirectoryThatAnEarlierVersionLeftOpenIsClosed) {
  plant_directory(directory / ".names", 0, 01777);
  plant_directory(directory / ".names" / uid, victim, 0775);
  plant_link(directory / ".names" / uid / "old", "../../mine", victim);
  make_run("mine", victim);
  EXPECT_EQ(as_victim([&] { return store.find("old").id(); }), "mine");
  EXPECT_EQ(fs::status(directory / ".names" / uid).permissions(), fs::perms(0755));
}

TEST_F(Shared, TheRootOfAContainerIsTheUserWhoRunsIt) {
  const std::string said = as_victim([&]() -> std::string {
    ::prctl(PR_SET_DUMPABLE, 1);  // else /proc/self is root's since setuid()
    if (::unshare(CLONE_NEWUSER) != 0) return "no namespace";
    std::ofstream("/proc/self/uid_map") << "0 " << victim << " 1\n";
    if (::geteuid() != 0) return "no namespace";
    return store.claim_launch("42.0.0", "mine") ? "taken" : "refused";
  });
  if (said == "no namespace") GTEST_SKIP() << "no user namespace can be made here";
  EXPECT_EQ(said, "taken");
  EXPECT_EQ(as_victim([&] { return store.launched("42.0.0").value_or("nothing"); }), "mine");
}

// A container in a container: its map names the outer container's root.
TEST_F(Shared, TheUserOfAContainerInAContainerKeepsTheirDirectory) {
  plant_directory(directory / ".launches", 0, 01777);
  plant_directory(directory / ".launches" / "0", 0);
  const auto in_container = [&](const char* slurm_user) {
    return as_victim([&]() -> std::string {
      ::prctl(PR_SET_DUMPABLE, 1);  // else /proc/self is root's since setuid()
      for (const uid_t outside : {victim, uid_t{0}}) {
        if (::unshare(CLONE_NEWUSER) != 0) return "no namespace";
        std::ofstream("/proc/self/uid_map") << (outside == 0 ? 1000 : 0) << " " << outside << " 1\n";
        // Without a group there, no further namespace can be made.
        std::ofstream("/proc/self/setgroups") << "deny";
        std::ofstream("/proc/self/gid_map") << "0 " << outside << " 1\n";
      }
      if (::geteuid() != 1000) return "no namespace";
      if (slurm_user != nullptr) ::setenv("SLURM_JOB_UID", slurm_user, 1);
      return store.launch("42.0.0").parent_path().filename();
    });
  };
  const std::string said = in_container(uid.c_str());
  if (said == "no namespace") GTEST_SKIP() << "no user namespace can be made here";
  EXPECT_EQ(said, uid);
  EXPECT_EQ(in_container(nullptr), "0");
  plant_directory(directory / ".launches" / uid, victim);
  plant_directory(directory / ".launches" / "7", attacker);
  EXPECT_EQ(in_container(nullptr), uid);
}

TEST_F(Shared, AClosedDirectoryNeitherHidesALabelNorLosesIt) {
  make_run("mine", victim);
  EXPECT_EQ(as_victim([&] { return store.claim_label("baseline", "mine") ? "taken" : "refused"; }), "taken");
  plant_directory(directory / "baseline", attacker, 0);
  EXPECT_EQ(as_victim([&] { return store.find("baseline").id(); }), "mine");
  ::chmod((directory / "mine").c_str(), 0);
  for (const char* wanted : {"baseline", "mine"}) {
    const std::string said = as_victim([&] { return store.find(wanted).id(); });
    EXPECT_TRUE(has(said, "threw: run mine")) << said;
    EXPECT_TRUE(has(said, "cannot be read")) << said;
  }
  EXPECT_EQ(as_victim([&] { return store.claim_label("baseline", "other") ? "taken" : "refused"; }),
            "refused");
  ::chmod((directory / "mine").c_str(), 0755);
  EXPECT_EQ(as_victim([&] { return store.find("baseline").id(); }), "mine");
  ::chmod((directory / ".names" / uid).c_str(), 0);
  EXPECT_TRUE(has(as_victim([&] { return store.claim_label("baseline", "other") ? "taken" : "refused"; }),
                  "Permission denied"));
  ::chmod((directory / ".names" / uid).c_str(), 0755);
  EXPECT_EQ(as_victim([&] { return store.find("baseline").id(); }), "mine");
}

TEST_F(Shared, AnotherUsersLinkLeadsNoLogElsewhere) {
  plant_directory(directory / "logs", victim);
  plant_directory(directory / "precious", victim);
  fs::create_symlink("precious", directory / "theirs");
  ::lchown((directory / "theirs").c_str(), attacker, attacker);
  fs::create_symlink("../precious/x", directory / "logs" / "mine");
  ::lchown((directory / "logs" / "mine").c_str(), victim, victim);
  const auto resolved = [&](const std::string& path) {
    return as_victim([&] { return without_links(directory / path).string(); });
  };
  EXPECT_TRUE(has(resolved("theirs/log.jsonl"), "theirs is a symbolic link of another user's"));
  EXPECT_EQ(resolved("logs/mine/../log.jsonl"), (directory / "precious" / "log.jsonl").string());
  EXPECT_EQ(resolved("none/../logs/./log.jsonl"), (directory / "logs" / "log.jsonl").string());
  const auto keep_rows = [&] {
    const RowFile rows(directory / "theirs");
    return std::string(rows.writes() ? "kept" : "not kept");
  };
  EXPECT_EQ(as_victim(keep_rows), "not kept");
  EXPECT_TRUE(fs::is_empty(directory / "precious"));
}

TEST_F(Shared, AnotherUsersRunIsNotResumed) {
  make_run("evil", attacker);
  make_run("mine", victim);
  const auto why = [&](const std::string& id) {
    return as_victim(
        [&] { return why_not_resumable(store.run(id), read_manifest(store.run(id))).value_or(""); });
  };
  EXPECT_EQ(why("evil"), "it is another user's");
  EXPECT_EQ(why("mine"), "");
}

TEST_F(Shared, ProvingThatItCanBeWrittenNeedsNoNameThatCouldBePlanted) {
  const std::string name = unguessable_name("x");
  EXPECT_EQ(name.size(), 17U);
  EXPECT_NE(name, unguessable_name("x"));
  EXPECT_EQ(as_victim([&] {
              store.require_writable();
              return std::string("fine");
            }),
            "fine");
  for (const auto& entry : fs::directory_iterator(directory.path()))
    EXPECT_TRUE(fs::is_directory(entry)) << entry;
  plant_link(directory / "name", directory / "precious", attacker);
  EXPECT_TRUE(has(error_of([&] { create_new(AT_FDCWD, directory / "name"); }), "File exists"));
  EXPECT_FALSE(fs::exists(directory / "precious"));
}

}  // namespace
}  // namespace flor::core
