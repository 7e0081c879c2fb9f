#include "core/store/store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/config/conf.h"
#include "core/config/redis_setting.h"
#include "core/config/settings.h"
#include "core/files/durable.h"
#include "core/store/manifest.h"
#include "core/store/plan.h"
#include "support/another_user.h"
#include "support/interposed.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

using test::TemporaryDirectory;

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Store, CreatesItsLastComponentOnly) {
  const TemporaryDirectory directory;
  Store(directory / "store").require_writable();
  EXPECT_TRUE(fs::is_directory(directory / "store"));
  for (const auto& entry : fs::directory_iterator(directory / "store"))
    EXPECT_TRUE(entry.path().filename() == ".names" || entry.path().filename() == ".launches") << entry;
  const auto message = message_of([&] { Store(directory / "no/store").require_writable(); });
  EXPECT_NE(message.find("parent directory"), std::string::npos);
  EXPECT_FALSE(fs::exists(directory / "no"));
}

TEST(Store, SaysWhenItCannotBeWritten) {
  EXPECT_NE(message_of([] { Store("/proc/self").require_writable(); }).find("cannot be written"),
            std::string::npos);
}

// As a Lustre that is mounted without flock.
TEST(Store, MustHaveLocks) {
  const test::TemporaryDirectory directory;
  const test::Interposing calls;
  calls->locks = test::Interposed::Locks::none;
  const auto message = message_of([&] { Store(directory / "store").require_writable(); });
  EXPECT_NE(message.find("its file system has no locks"), std::string::npos) << message;
  EXPECT_NE(message.find("mounted with the option flock"), std::string::npos) << message;
}

TEST(Store, FindsARunByIdLabelAndPrefix) {
  const TemporaryDirectory directory;
  const Store store(directory.path());
  for (const char* id : {"20261120-143005-a3f9", "20261121-000000-0000"}) {
    fs::create_directory(directory / id);
    write_manifest(store.run(id), Manifest());
  }
  EXPECT_TRUE(store.claim_label("baseline", "20261120-143005-a3f9"));
  EXPECT_FALSE(store.claim_label("baseline", "20261121-000000-0000"));
  EXPECT_EQ(store.find("baseline").id(), "20261120-143005-a3f9");
  EXPECT_EQ(store.find("20261121").id(), "20261121-000000-0000");
  EXPECT_NE(message_of([&] { store.find("2026"); }).find("any of 2 runs"), std::string::npos);
  EXPECT_NE(message_of([&] { store.find("other"); }).find("no run 'other'"), std::string::npos);
  EXPECT_EQ(store.runs().size(), 2U);
}

// Whoever made it, it may lead to a run of this user's in another store.
TEST(Store, ALinkIsNoRun) {
  const TemporaryDirectory directory;
  fs::create_directories(directory / "own/r1");
  fs::create_directories(directory / "shared");
  write_manifest({directory / "own/r1"}, Manifest());
  fs::create_directory_symlink(directory / "own/r1", directory / "shared/r1");
  const Store shared(directory / "shared");
  EXPECT_TRUE(shared.runs().empty());
  EXPECT_FALSE(shared.has_run("r1"));
  EXPECT_NE(message_of([&] { shared.find("r1"); }).find("no run 'r1'"), std::string::npos);
  EXPECT_TRUE(shared.claim_label("baseline", "r1"));
  EXPECT_NE(message_of([&] { shared.find("baseline"); }).find("no longer in the store"), std::string::npos);
  fs::create_directory_symlink(directory / "own", directory / "linked");
  const Store linked(directory / "linked");
  EXPECT_EQ(linked.runs().size(), 1U) << "the store itself may lie behind a link";
  EXPECT_EQ(linked.find("r1").path, directory / "linked/r1");
  EXPECT_TRUE(linked.has_run("r1"));
}

// Else another user's run with a longer id would make a beginning ambiguous that is in use.
TEST(Store, APrefixIsThatOfOnesOwnRunFirst) {
  FLOR_NEEDS_ROOT();
  const TemporaryDirectory directory;
  const Store store(directory.path());
  const auto make_run = [&](const std::string& id, uid_t owner) {
    test::plant_directory(store.run(id).path, owner);
    write_manifest(store.run(id), Manifest());
  };
  make_run("20261120-143005-zz", test::attacker);
  EXPECT_EQ(store.find("20261120").id(), "20261120-143005-zz");
  make_run("20261120-143005-a3f9", 0);
  EXPECT_EQ(store.find("20261120").id(), "20261120-143005-a3f9");
  make_run("20261120", test::attacker);
  EXPECT_EQ(store.find("20261120").id(), "20261120-143005-a3f9");
  EXPECT_EQ(store.find("20261120-143005-zz").id(), "20261120-143005-zz")
      << "a whole id that no own one begins with";
  make_run("20261120-143006-a3f9", 0);
  EXPECT_NE(message_of([&] { store.find("20261120"); }).find("any of 2 runs"), std::string::npos);
}

TEST(Store, IdsCannotLeaveIt) {
  const TemporaryDirectory directory;
  const Store store(directory.path());
  for (const char* id : {"..", "../x", "a/b", "", ".hidden", "-x", "a b"}) {
    EXPECT_THROW(store.run(id), UsageError) << id;
    EXPECT_THROW(store.find(id), UsageError) << id;
    EXPECT_THROW(store.run("r").replay(id), UsageError) << id;
    EXPECT_THROW(store.label(id), UsageError) << id;
  }
}

// Semantics 16: of several processes of one launch one records.
TEST(Store, ALaunchIsTakenOnce) {
  const TemporaryDirectory directory;
  const Store store(directory.path());
  EXPECT_TRUE(store.claim_launch("42.0.0", "run-a"));
  EXPECT_FALSE(store.claim_launch("42.0.0", "run-b"));
  EXPECT_EQ(read_file(store.launch("42.0.0")), "run-a\n");
}

TEST(FileLock, IsHeldWhileItLives) {
  const TemporaryDirectory directory;
  const RunDir run{directory.path()};
  EXPECT_FALSE(run.is_being_recorded());
  {
    const auto lock = FileLock::try_take(run.lock());
    ASSERT_TRUE(lock);
    EXPECT_FALSE(FileLock::try_take(run.lock()));
    EXPECT_TRUE(run.is_being_recorded());
  }
  EXPECT_FALSE(run.is_being_recorded());
}

TEST(FileLock, AChildDropsAllOfItsParents) {
  const TemporaryDirectory directory;
  constexpr int many = 40;
  const auto path = [&](int i) { return directory / (std::to_string(i) + ".lock"); };
  std::vector<FileLock> locks;
  locks.reserve(many);
  for (int i = 0; i < many; ++i) locks.push_back(FileLock::create(path(i)));
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    FileLock::drop_in_child();
    [[maybe_unused]] const auto told = ::write(ready[1], "r", 1);
    while (true) ::pause();
  }
  char byte = 0;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  locks.clear();
  for (int i = 0; i < many; ++i) EXPECT_FALSE(is_locked(path(i))) << i;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(FileLock, WhatAChildDroppedItClosesNoMore) {
  const TemporaryDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    int other = -1;
    {
      const FileLock lock = FileLock::create(directory / "a.lock");
      FileLock::drop_in_child();
      other = ::open("/dev/null", O_RDONLY);  // gets the number that the lock had
    }
    ::_exit(::fcntl(other, F_GETFD) < 0 ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Settings, EnvironmentComesBeforeTheFiles) {
  const Settings settings(parse_conf("# comment\nstore = /shared/flor # where\nredis=redis://h:1\nbroken\n"));
  ::unsetenv("FLOR_STORE");
  EXPECT_EQ(settings.store(), "/shared/flor");
  ::setenv("FLOR_STORE", "/mine/", 1);
  EXPECT_EQ(settings.store(), "/mine");
  ::unsetenv("FLOR_STORE");
  ::unsetenv("FLOR_REDIS");
  EXPECT_EQ(settings.get("redis"), "redis://h:1");
  EXPECT_FALSE(settings.get("epsilon"));
}

TEST(Settings, TheEnvironmentNamesTheRedisAndFlorConfHoldsItsPassword) {
  const Settings settings(parse_conf("redis = redis://ada:hunter2@h:1\n"));
  EXPECT_EQ(without_password("redis://ada:hunter2@h:1"), "redis://ada@h:1");
  EXPECT_EQ(without_password("redis://:p@ss@h"), "redis://h");
  EXPECT_EQ(without_password("redis://ada@h"), "redis://ada@h");
  EXPECT_EQ(without_password("unix:///a@b:c@d"), "unix:///a@b:c@d");
  EXPECT_EQ(without_password("unix:///a@/b"), "unix:///a@/b");
  EXPECT_EQ(without_password("unix://ada:hunter2@/run/r.sock"), "unix://ada@/run/r.sock");
  EXPECT_EQ(without_password("unix://:p@/ss@/run/r.sock"), "unix:///run/r.sock");
  ::setenv("FLOR_REDIS", "redis://ada@h:1", 1);
  EXPECT_EQ(redis_url(settings), "redis://ada:hunter2@h:1");
  ::setenv("FLOR_REDIS", "redis://ada@elsewhere:1", 1);
  EXPECT_EQ(redis_url(settings), "redis://ada@elsewhere:1") << "a password goes to its own server only";
  ::setenv("FLOR_REDIS", "redis://bob@h:1", 1);
  EXPECT_EQ(redis_url(settings), "redis://bob@h:1");
  ::unsetenv("FLOR_REDIS");
  EXPECT_EQ(redis_url(settings), "redis://ada:hunter2@h:1");
  EXPECT_TRUE(is_found_without_password(settings, "redis://ada:hunter2@h:1"));
  EXPECT_FALSE(is_found_without_password(settings, "redis://ada:other@h:1"));
  EXPECT_TRUE(is_found_without_password(settings, "redis://h:1"));
}

TEST(Manifest, ReadsWhatWasWritten) {
  const TemporaryDirectory directory;
  const RunDir run{directory.path()};
  Manifest m;
  m.id = "r";
  m.status = "completed";
  m.exit_code = 3;
  m.environment = {{"threads", "1"}};
  m.loops = {{"warmup", true, 0, 2, LoopEnd::exhausted, 2, 1, 0.5, false},
             {"epoch", true, 0, 12, LoopEnd::early, 8, 7, 60.0, true}};
  write_manifest(run, m);
  const Manifest read = read_manifest(run);
  EXPECT_EQ(read.exit_code, 3);
  EXPECT_EQ(read.main_loop()->name, "epoch");  // docs/semantics.md, rule 9: the one that ran longest
  EXPECT_TRUE(read.complete());
  EXPECT_EQ(read.main_loop()->ended, LoopEnd::early);
  EXPECT_EQ(to_json(read), to_json(m));
}

TEST(Manifest, OfAKilledRecordingIsFilledInFromTheTimeline) {
  const TemporaryDirectory directory;
  const RunDir run{directory.path()};
  Manifest m;
  m.id = "r";
  write_manifest(run, m);
  write_durably(
      run.timeline(),
      "{\"kind\":\"loop\",\"name\":\"epoch\",\"range\":true,\"begin\":0,\"end\":12}\n"
      "{\"kind\":\"loop_end\",\"at\":\"epoch=0\",\"name\":\"epoch\",\"ended\":\"early\",\"last\":9}\n"
      "{\"kind\":\"step\",\"at\":\"epoch=0/train#0/step=3\",\"loop\":\"epoch\",\"inner\":\"train#0/"
      "step\",\"next\":4}\n"
      "{\"kind\":\"iteration\",\"at\":\"epoch=0\",\"loop\":\"epoch\",\"value\":0,\"seconds\":1.5}\n"
      "{\"kind\":\"iteration\",\"at\":\"epoch=1\",\"loop\":\"epoch\",\"value\":1,\"seconds\":1.5}\n"
      "{\"kind\":\"iterat");
  const Manifest read = read_manifest_and_progress(run);
  ASSERT_NE(read.main_loop(), nullptr);
  EXPECT_EQ(read.main_loop()->iterations, 2);
  EXPECT_EQ(read.main_loop()->last, 1);
  EXPECT_EQ(read.main_loop()->ended, LoopEnd::running);
  EXPECT_DOUBLE_EQ(read.main_loop()->seconds, 3.0);
  EXPECT_EQ(read.main_loop()->inner, "train#0/step");
}

TEST(Plan, RefusesWhatWouldLeadToWrongRows) {
  Plan plan;
  plan.run = "r";
  plan.replay = "q";
  plan.complete = true;
  plan.inner = "train#0/step";
  plan.units = {{0, 0, 3, "", 1, 0, 0, 0, -1, 50, ""}, {1, 3, 7, "e", 1, 0, 0, 0, 50, -1, "s"}};
  plan.selected = {0, 2};
  plan.segments = {{0, 1}, {1, 2}};
  const Json good = to_json(plan);
  EXPECT_EQ(to_json(plan_from(good, "plan.json")), good);
  auto broken = [&](const char* pointer, const Json& value) {
    Json json = good;
    json[Json::json_pointer(pointer)] = value;
    return json;
  };
  for (const auto& json :
       {broken("/units/1/id", 5), broken("/units/1/last", 2), broken("/selected", Json::parse("[[0,3]]")),
        broken("/selected", Json::parse("[[1,2],[0,1]]")), broken("/selected", Json::array()),
        broken("/segments/0", Json{1, 1}), broken("/run", "../x"), broken("/units/0/entry", "/etc/passwd"),
        broken("/units/0/entry", "train/../../x"), broken("/units/1/step", "/etc/passwd"),
        broken("/units/1/step", ""), broken("/units/1/entry", ""), broken("/inner", ""),
        broken("/mode", "partial"), broken("/format", 2), Json("no plan")}) {
    EXPECT_THROW(plan_from(json, "plan.json"), Error) << json.dump();
  }
  EXPECT_NO_THROW(plan_from(broken("/units/1/entry", "checkpoints/a..b/epoch=3"), "plan.json"));
}

// Another user's may change at any time, also while they are sorted.
TEST(Replays, AreListedWhileTheirTimesChange) {
  const TemporaryDirectory directory;
  const RunDir run{directory / "r"};
  constexpr std::size_t count = 100;
  std::vector<fs::path> plans;
  for (std::size_t i = 0; i < count; ++i) {
    plans.push_back(run.replay("q" + std::to_string(i)).plan());
    fs::create_directories(plans.back().parent_path());
    write_durably(plans.back(), "{}");
  }
  std::atomic<bool> done{false};
  std::thread owner([&] {
    const auto now = fs::file_time_type::clock::now();
    for (std::size_t i = 0; !done; ++i)
      fs::last_write_time(plans[i * 37 % count], now + std::chrono::seconds(i * 7919 % 1000));
  });
  for (int i = 0; i < 50; ++i) EXPECT_EQ(run.all_replays().size(), count);
  done = true;
  owner.join();
}

// In nanoseconds such a time does not fit into 64 bits.
TEST(Replays, OneThatIsDatedCenturiesAheadIsTheNewest) {
  const TemporaryDirectory directory;
  const RunDir run{directory / "r"};
  for (const char* id : {"q1", "q2"}) {
    fs::create_directories(run.replay(id).path);
    write_durably(run.replay(id).plan(), "{}");
  }
  const timespec in_2300[] = {{10'413'792'000, 0}, {10'413'792'000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, run.replay("q1").plan().c_str(), in_2300, 0), 0);
  const auto replays = run.all_replays();
  ASSERT_EQ(replays.size(), 2U);
  EXPECT_EQ(replays[1].id(), "q1");
}

// Another user could have one replay read thousands of times.
TEST(Replays, AreNoLinksToOthers) {
  const TemporaryDirectory directory;
  const RunDir run{directory / "r"};
  fs::create_directories(run.replay("q1").path);
  write_durably(run.replay("q1").plan(), "{}");
  for (const char* id : {"q0", "q2"}) fs::create_directory_symlink("q1", run.replay(id).path);
  const auto replays = run.all_replays();
  ASSERT_EQ(replays.size(), 1U);
  EXPECT_EQ(replays[0].id(), "q1");
}

// Another user could make ten thousand runs of one directory with as many replays.
TEST(Replays, AreNotThoseThatALinkLeadsTo) {
  const TemporaryDirectory directory;
  const RunDir run{directory / "r"}, other{directory / "other"};
  fs::create_directories(other.replay("q1").path);
  write_durably(other.replay("q1").plan(), "{}");
  fs::create_directory(run.path);
  fs::create_directory_symlink(other.replays(), run.replays());
  EXPECT_EQ(other.all_replays().size(), 1U);
  EXPECT_TRUE(run.all_replays().empty());
}

TEST(Replays, OfAnotherUserThatLeadOutOfTheirRunAreNone) {
  FLOR_NEEDS_ROOT();
  const TemporaryDirectory directory;
  const RunDir run{directory / "r"};
  fs::create_directories(directory / "elsewhere");
  for (const char* id : {"q1", "q2", "q3", "q4"}) {
    fs::create_directories(run.replay(id).path);
    write_durably(run.replay(id).plan(), "{}");
  }
  fs::create_directory_symlink(directory / "elsewhere", run.replay("q1").units());
  fs::create_directory_symlink(directory / "elsewhere", run.replay("q2").workers());
  fs::create_directory_symlink(directory / "elsewhere", run.replay("q3").proofs());
  EXPECT_EQ(run.all_replays().size(), 4U) << "this user's links are this user's";
  ASSERT_EQ(::chown(run.path.c_str(), test::attacker, test::attacker), 0);
  const auto replays = run.all_replays();
  ASSERT_EQ(replays.size(), 1U);
  EXPECT_EQ(replays[0].id(), "q4");
}

}  // namespace
}  // namespace flor::core
