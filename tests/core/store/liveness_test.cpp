// Is a run recorded now? With real recorders, and file systems whose locks do not tell.
#include "core/store/liveness.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "core/base/clock.h"
#include "core/files/shared_locks.h"
#include "core/log/journal.h"
#include "core/resuming/earlier_run.h"
#include "core/store/slurm_job.h"
#include "support/interposed.h"
#include "support/recording_process.h"
#include "support/temporary.h"

namespace flor::core {

std::ostream& operator<<(std::ostream& out, Life life) {
  return out << (life == Life::dead ? "dead" : life == Life::live ? "live" : "unknown");
}

namespace {

using std::chrono::seconds;
using test::Interposed;
using test::RecordingProcess;

Evidence far_away(double silent) {
  Evidence out;
  out.has_owner = true;
  out.host = "n1";
  out.locked = false;
  out.silence = [silent] { return Silence{silent, true}; };
  return out;
}

TEST(Decide, TheFirstEvidenceThatTellsDecides) {
  const auto with = [](Evidence evidence, const std::function<void(Evidence&)>& change) {
    change(evidence);
    return evidence;
  };
  const Evidence fresh = far_away(5);
  const Evidence silent = far_away(1e6);
  const Evidence held = with(silent, [](auto& e) { e.locked = e.elsewhere = true; });
  const Evidence none;
  const struct {
    const char* what;
    Evidence evidence;
    Life life;
  } table[] = {
      {"ended, though its lock is held", with(fresh, [](auto& e) { e.locked = e.ended = true; }), Life::dead},
      {"its process lives", with(silent, [](auto& e) { e.process = true; }), Life::live},
      {"its process is gone", with(fresh, [](auto& e) { e.process = false; }), Life::dead},
      {"its lock is held", with(silent, [](auto& e) { e.locked = true; }), Life::live},
      {"held elsewhere", with(held, [](auto&) {}), Life::live},
      {"held here, though its job began again",
       with(held,
            [](auto& e) {
              e.requeued = true;
              e.elsewhere = false;
            }),
       Life::live},
      {"held elsewhere, its job began again", with(held, [](auto& e) { e.requeued = true; }), Life::dead},
      {"held elsewhere, its job is over", with(held, [](auto& e) { e.job = [] { return JobState::over; }; }),
       Life::dead},
      {"held elsewhere, its job is listed",
       with(held, [](auto& e) { e.job = [] { return JobState::listed; }; }), Life::live},
      {"free where its locks are seen", with(fresh, [](auto& e) { e.sees_locks = true; }), Life::dead},
      {"its job began again", with(fresh, [](auto& e) { e.requeued = true; }), Life::dead},
      {"its job waits", with(fresh, [&](auto& e) { e.job = [] { return JobState::waiting; }; }), Life::dead},
      {"its job is over", with(fresh, [&](auto& e) { e.job = [] { return JobState::over; }; }), Life::dead},
      {"its job is not listed, and it gave a sign of life",
       with(fresh, [&](auto& e) { e.job = [] { return JobState::unlisted; }; }), Life::live},
      {"its job is not listed, and it is silent",
       with(silent, [&](auto& e) { e.job = [] { return JobState::unlisted; }; }), Life::dead},
      {"it gave a sign", fresh, Life::live},
      {"it gave a sign, no locks", with(fresh, [](auto& e) { e.locked.reset(); }), Life::live},
      {"the server's clock is behind", far_away(-30), Life::live},
      {"its node was booted", with(silent, [](auto& e) { e.restarted = true; }), Life::dead},
      {"its node has a twin", with(fresh, [](auto& e) { e.restarted = true; }), Life::live},
      {"silent, locks not known to be shared", silent, Life::unknown},
      {"silent, shared locks", with(silent, [](auto& e) { e.shared_locks = true; }), Life::dead},
      {"not for long", with(far_away(599), [](auto& e) { e.shared_locks = true; }), Life::unknown},
      {"by two clocks",
       with(silent,
            [](auto& e) {
              e.shared_locks = true;
              e.silence = [] { return Silence{1e6, false}; };
            }),
       Life::unknown},
      {"silent, no locks",
       with(silent,
            [](auto& e) {
              e.shared_locks = true;
              e.locked.reset();
            }),
       Life::unknown},
      {"of an earlier version, free", with(none, [](auto& e) { e.locked = false; }), Life::dead},
      {"of an earlier version, held", with(none, [](auto& e) { e.locked = true; }), Life::live},
      {"of an earlier version, no locks", none, Life::unknown},
  };
  for (const auto& row : table) EXPECT_EQ(decide(row.evidence).life, row.life) << row.what;
}

TEST(Decide, AsksNoFurtherThanItMust) {
  Evidence evidence = far_away(0);
  evidence.locked = true;
  evidence.job = []() -> JobState { throw std::logic_error("asked"); };
  EXPECT_EQ(decide(evidence).life, Life::live);
}

TEST(SharedLocks, AreThoseThatAServerKeeps) {
  EXPECT_TRUE(are_locks_shared("nfs4", "rw,vers=4.2,local_lock=none,addr=10.0.0.1"));
  EXPECT_FALSE(are_locks_shared("nfs", "rw,vers=3,local_lock=all"));
  EXPECT_FALSE(are_locks_shared("nfs", "rw,nolock,vers=3"));
  EXPECT_TRUE(are_locks_shared("lustre", "rw,flock,user_xattr"));
  EXPECT_FALSE(are_locks_shared("lustre", "rw,localflock"));
  EXPECT_TRUE(are_locks_shared("gpfs", "rw"));
  EXPECT_FALSE(are_locks_shared("beegfs", "rw"));
  EXPECT_FALSE(are_locks_shared("ext4", "rw"));
  EXPECT_FALSE(has_shared_locks("/proc"));
}

TEST(SlurmJob, IsOverWhenItHasEndedOrWaitsToStartAgain) {
  const std::string listing = "41 RUNNING\n42 PENDING\n43 COMPLETING\n44 CANCELLED\n45 NODE_FAIL\n";
  EXPECT_EQ(state_in(listing, "42"), JobState::waiting);
  EXPECT_EQ(state_in(listing, "44"), JobState::over);
  for (const char* job : {"4", "46"}) EXPECT_EQ(state_in(listing, job), JobState::unlisted) << job;
  for (const char* job : {"41", "43", "45"}) EXPECT_EQ(state_in(listing, job), JobState::listed) << job;
  EXPECT_EQ(config_value("Configuration data\nClusterName             = alpha\n", "ClusterName"), "alpha");
  EXPECT_EQ(config_value("", "ClusterName"), "");
}

TEST(SlurmJob, IsAskedOfTheUsersOwnClusterOnly) {
  const test::TemporaryDirectory directory;
  std::ofstream(directory / "squeue") << "#!/bin/sh\n"
                                         "[ -z \"$SQUEUE_PARTITION\" ] || exit\n"
                                         "case \" $* \" in *' --all '*) echo 41 RUNNING ;; esac\n";
  fs::permissions(directory / "squeue", fs::perms::owner_all);
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", (directory.path().string() + ":" + path).c_str(), 1);
  ::setenv("SLURM_CLUSTER_NAME", "alpha", 1);
  ::setenv("SQUEUE_PARTITION", "another", 1);  // would leave the job out
  Owner owner;
  owner.uid = ::geteuid();
  owner.cluster = "alpha";
  owner.job = "42";
  EXPECT_EQ(state_of_job(owner), JobState::unlisted);
  owner.job = "41";
  EXPECT_EQ(state_of_job(owner), JobState::listed);
  owner.job = "42";
  owner.cluster = "beta";
  EXPECT_EQ(state_of_job(owner), JobState::unknown);
  owner.cluster = "alpha";
  ++owner.uid;
  EXPECT_EQ(state_of_job(owner), JobState::unknown);
  ::setenv("PATH", path.c_str(), 1);
  ::unsetenv("SQUEUE_PARTITION");
  ::unsetenv("SLURM_CLUSTER_NAME");
}

TEST(SlurmJob, IsAskedByNoProgramOfTheWorkingDirectory) {
  const test::TemporaryDirectory directory;
  std::ofstream(directory / "squeue") << "#!/bin/sh\ntouch " << (directory / "ran").string() << "\n";
  fs::permissions(directory / "squeue", fs::perms::owner_all);
  const fs::path before = fs::current_path();
  const std::string path = ::getenv("PATH");
  fs::current_path(directory.path());
  ::setenv("PATH", (":.:" + directory.path().filename().string() + ":/usr/bin:/bin").c_str(), 1);
  ask_slurm("squeue");
  EXPECT_FALSE(fs::exists(directory / "ran"));
  ::setenv("PATH", (":.:" + directory.path().string() + ":/usr/bin:/bin").c_str(), 1);
  EXPECT_EQ(ask_slurm("squeue"), "");
  EXPECT_TRUE(fs::exists(directory / "ran"));
  ::setenv("PATH", path.c_str(), 1);
  fs::current_path(before);
}

TEST(StartTime, IsFoundBehindANameWithBlanksAndBrackets) {
  EXPECT_EQ(start_time_in("7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20"), 4711U);
  EXPECT_EQ(start_time_in("7 (a) S 1"), std::nullopt);
  EXPECT_EQ(start_time_in(""), std::nullopt);
}

class Recorded : public ::testing::Test {
 protected:
  Recorded() {
    fs::create_directory(store.path());
    ::setenv("FLOR_LAUNCH", "local-1", 1);
  }
  ~Recorded() override { ::unsetenv("FLOR_LAUNCH"); }
  Liveness liveness(const RecordingProcess& recorder) { return liveness_of(store.run(recorder.said())); }

  test::TemporaryDirectory directory;
  const Store store{directory / "store"};
  const test::Interposing calls;
};

TEST_F(Recorded, AProcessOfThisNodeTellsWhateverItsLockDoes) {
  for (const auto locks :
       {Interposed::Locks::real, Interposed::Locks::none, Interposed::Locks::of_this_node}) {
    calls->locks = Interposed::Locks::real;
    ::setenv("FLOR_LAUNCH", ("local-" + std::to_string(static_cast<int>(locks))).c_str(), 1);
    RecordingProcess recorder(store.path());
    calls->locks = locks;
    EXPECT_EQ(liveness(recorder).life, Life::live);
    recorder.kill();
    EXPECT_EQ(liveness(recorder).life, Life::dead);
  }
}

// flock() is one mount's: a container with a mount of its own neither sees the lock nor the process.
TEST_F(Recorded, BehindAnotherMountOnItsNodeItsHeartbeatTells) {
  RecordingProcess recorder(store.path());
  const RunDir run = store.run(recorder.said());
  const fs::path file = find_owner(run)->path;
  Json owner = Json::parse(read_file(file));
  owner["device"] = owner["device"].get<std::uint64_t>() + 1;
  owner["pids"] = "pid:[1]";
  std::ofstream(file) << owner.dump() << "\n";
  calls->locks = Interposed::Locks::of_this_node;
  EXPECT_EQ(liveness(recorder).life, Life::live);
  test::age_heartbeat(run, seconds(3600));
  EXPECT_EQ(liveness(recorder).life, Life::unknown);
}

TEST_F(Recorded, OnAnotherNodeItsHeartbeatTellsWhatItsLockDoesNot) {
  RecordingProcess recorder(store.path());
  const RunDir run = store.run(recorder.said());
  test::move_to_another_node(run);
  for (const auto locks : {Interposed::Locks::none, Interposed::Locks::of_this_node}) {
    calls->locks = locks;
    test::age_heartbeat(run, seconds(-3600));
    EXPECT_EQ(liveness(recorder).life, Life::live);
    test::age_heartbeat(run, seconds(3600));
    EXPECT_EQ(liveness(recorder).life, Life::unknown);
    EXPECT_NE(how_to_unlock(run, liveness(recorder)).find("flor unlock " + run.id()), std::string::npos);
  }
  calls->locks = Interposed::Locks::real;
  EXPECT_EQ(liveness(recorder).life, Life::live) << "its lock is held";
  recorder.finish();
  EXPECT_EQ(liveness(recorder).life, Life::dead) << "its owner file is empty";
}

TEST_F(Recorded, WhatTheUserSaysIsOverIsOver) {
  RecordingProcess recorder(store.path());
  const RunDir run = store.run(recorder.said());
  recorder.kill();
  test::move_to_another_node(run);
  test::age_heartbeat(run, seconds(3600));
  EXPECT_EQ(liveness(recorder).life, Life::unknown);
  end_owner(run, 0);
  EXPECT_EQ(liveness(recorder).life, Life::dead);
  fs::remove(run.path / "owner.0.json");
  calls->locks = Interposed::Locks::none;
  EXPECT_EQ(liveness(recorder).life, Life::unknown);
  end_owner(run, 0);
  EXPECT_EQ(liveness(recorder).life, Life::dead) << "an earlier version recorded it";
}

TEST_F(Recorded, AWrittenEndTellsWithoutTheOwnerFile) {
  RecordingProcess recorder(store.path());
  const RunDir run = store.run(recorder.said());
  recorder.kill();
  test::move_to_another_node(run);
  test::age_heartbeat(run, seconds(3600));
  Manifest manifest = read_manifest(run);
  manifest.status = "failed";
  write_manifest(run, manifest);
  EXPECT_EQ(liveness(recorder).life, Life::dead);
}

TEST_F(Recorded, ARequeuedJobGoesOnWithWhatItsEarlierStartRecorded) {
  for (const auto& [name, value] : {std::pair{"SLURM_JOB_ID", "42"}, {"SLURM_CLUSTER_NAME", "alpha"}})
    ::setenv(name, value, 1);
  RecordingProcess recorder(store.path());
  const RunDir run = store.run(recorder.said());
  recorder.kill();
  test::move_to_another_node(run);
  EXPECT_EQ(liveness(recorder).life, Life::live);
  ::setenv("SLURM_RESTART_COUNT", "1", 1);
  // The count is that of the job which submitted this one.
  ::setenv("SLURM_SPANK_FLOR_INHERITED", "SLURM_RESTART_COUNT", 1);
  EXPECT_EQ(liveness(recorder).life, Life::live);
  ::unsetenv("SLURM_SPANK_FLOR_INHERITED");
  EXPECT_EQ(liveness(recorder).life, Life::dead);
  for (const char* name : {"SLURM_JOB_ID", "SLURM_CLUSTER_NAME", "SLURM_RESTART_COUNT"}) ::unsetenv(name);
}

TEST_F(Recorded, NoSecondAttemptBeginsWhereTheFirstMayLive) {
  RecordingProcess recorder(store.path());
  const RunDir run = store.run(recorder.said());
  test::move_to_another_node(run);
  calls->locks = Interposed::Locks::of_this_node;
  const auto why = [&] { return why_not_resumable(run, read_manifest(run)).value_or(""); };
  EXPECT_NE(why().find("is recording it"), std::string::npos) << why();
  test::age_heartbeat(run, seconds(3600));
  EXPECT_NE(why().find("flor unlock"), std::string::npos) << why();
  end_owner(run, 0);
  EXPECT_EQ(why(), "");
}

TEST_F(Recorded, OfTwoFurtherAttemptsOneBegins) {
  std::optional<RecordingProcess> recorder(store.path());
  const RunDir run = store.run(recorder->said());
  recorder.reset();
  calls->locks = Interposed::Locks::of_this_node;
  ::setenv("FLOR_LAUNCH", "local-2", 1);
  const RecordingProcess second(store.path(), run);
  EXPECT_EQ(second.said(), run.id());
  Manifest manifest = read_manifest(run);
  manifest.attempt = 0;  // as the third read it before the second began
  write_manifest(run, manifest);
  ::setenv("FLOR_LAUNCH", "local-3", 1);
  const std::string said = RecordingProcess(store.path(), run).said();
  EXPECT_EQ(said.rfind("run " + run.id() + " cannot be resumed any more: process ", 0), 0U) << said;
}

TEST_F(Recorded, AnAttemptThatDiedBeforeItsManifestIsNotInTheWay) {
  std::optional<RecordingProcess> recorder(store.path());
  const RunDir run = store.run(recorder->said());
  recorder.reset();
  fs::copy_file(run.path / "owner.0.json", run.path / "owner.1.json");
  ::setenv("FLOR_LAUNCH", "local-2", 1);
  EXPECT_EQ(RecordingProcess(store.path(), run).said(), run.id());
}

TEST_F(Recorded, WhoAsksKeepsNoRecorderFromItsLock) {
  std::optional<RecordingProcess> recorder(store.path());
  const RunDir run = store.run(recorder->said());
  recorder.reset();
  const pid_t asker = ::fork();  // no thread: the recorders, its children, would share what it has locked
  if (asker == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) lock_held(run.lock());
  }
  for (int attempt = 1; attempt <= 20; ++attempt) {
    ::setenv("FLOR_LAUNCH", ("local-again-" + std::to_string(attempt)).c_str(), 1);
    const RecordingProcess again(store.path(), run);
    EXPECT_EQ(again.said(), run.id());
  }
  ::kill(asker, SIGKILL);
  ::waitpid(asker, nullptr, 0);
}

TEST_F(Recorded, AnOwnerFileThatIsNoneTellsNothing) {
  RecordingProcess recorder(store.path());
  const RunDir run = store.run(recorder.said());
  recorder.kill();
  const auto path = run.path / "owner.0.json";
  std::ofstream(path) << R"({"pid": "many", "slurm": 3})";
  test::age_heartbeat(run, seconds(3600));
  EXPECT_EQ(liveness(recorder).life, Life::unknown);
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(liveness(recorder).life, Life::unknown);
}

// As after another file server took over, which does not know the handle.
TEST_F(Recorded, AStaleHandleIsNoOtherAttempt) {
  const RunDir run = store.run("r1");
  fs::create_directories(run.path);
  const OwnerFile owner = OwnerFile::create(run, 0);
  calls->handles_are_stale = true;
  test::age_heartbeat(run, seconds(3600));
  EXPECT_TRUE(owner.beat());
  EXPECT_LT(wall_seconds() - find_owner(run)->beat, 1800) << "the file was touched by its name";
  end_owner(run, 0);
  EXPECT_FALSE(owner.beat());
}

TEST_F(Recorded, ItsJournalTouchesItsOwnerFile) {
  ::setenv("FLOR_LAUNCH", "local-beat", 1);
  test::NoFrontend frontend;
  auto begun = begin_run(Settings({{"store", store.path().string()}}), frontend, std::nullopt);
  ASSERT_TRUE(begun);
  const RunDir run = begun->run;
  test::age_heartbeat(run, seconds(3600));
  const double before = find_owner(run)->beat;
  {
    const Journal journal(
        {run.log()}, [](Journal::Failure, const std::string&) {}, [&] { return begun->owner.beat(); });
    const auto until = std::chrono::steady_clock::now() + seconds(100);
    while (find_owner(run)->beat < before + 1800 && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_GT(find_owner(run)->beat, before + 1800);
}

}  // namespace
}  // namespace flor::core
