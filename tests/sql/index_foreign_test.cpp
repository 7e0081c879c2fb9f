// The index of a store in which other users have runs: they take no memory, no column and no name of this
// user's.
#include "index_fixture.h"

namespace flor::sql {
namespace {

TEST_F(Index, RowsOfAnotherUsersRunAreReadUpToALimit) {
  FLOR_NEEDS_ROOT();
  run("mine", row("epoch=0", "x", "1"));
  plant("theirs", row("epoch=0", "x", "2"));
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[2]"});
  core::fs::resize_file(store_.run("theirs").log(), core::foreign_rows_limit + 1);
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[1]"});
  ASSERT_EQ(last_.warnings.size(), 1U);
  EXPECT_NE(
      last_.warnings[0].find("run theirs is left out: its rows take more than 50.3 MB with their values "
                             "and those that its attempts repeat: no more of another user's run are read "
                             "unless it is named (flor log theirs)"),
      std::string::npos)
      << last_.warnings[0];
}

TEST_F(Index, RowsOfAnotherUsersReplayAreReadUpToALimitWhereItsDirectoryListsNothing) {
  FLOR_NEEDS_ROOT();
  plant("theirs", row("epoch=0", "x", "1"));
  const core::RunDir planted = store_.run("theirs");
  const core::ReplayDir replay = planted.replay("r1");
  core::fs::create_directories(replay.units());
  core::write_durably(replay.plan(), core::to_json(results::testing::plan(2)).dump());
  for (const int64_t unit : {0, 1})
    core::write_durably(replay.unit(unit), std::string(core::foreign_rows_limit / 2, '\n'));
  ::chmod(replay.units().c_str(), 0711);
  ::chmod(directory_.path().c_str(), 0755);
  const std::string said = test::as_user(test::victim, [&] {
    results::ForeignRows foreign;
    return std::to_string(results::read_joined(planted, core::read_manifest(planted), foreign).rows.size());
  });
  EXPECT_NE(said.find("threw: its rows take more than 50.3 MB"), std::string::npos) << said;
}

TEST_F(Index, PlansOfAnotherUsersReplaysCountAsItsRowsDo) {
  FLOR_NEEDS_ROOT();
  plant("theirs", row("epoch=0", "x", "1"));
  const core::RunDir planted = store_.run("theirs");
  core::Plan plan = results::testing::plan(2);
  plan.recipe = std::string(core::foreign_plan_limit - 100000, 'x');
  for (const char* id : {"r1", "r2"}) {
    plan.replay = id;
    core::fs::create_directories(planted.replay(id).path);
    core::write_durably(planted.replay(id).plan(), core::to_json(plan).dump());
  }
  ::chmod(directory_.path().c_str(), 0755);
  const auto rows = [&] {
    return test::as_user(test::victim, [&] {
      results::ForeignRows foreign;
      return std::to_string(results::read_joined(planted, core::read_manifest(planted), foreign).rows.size());
    });
  };
  EXPECT_NE(rows().find("threw: its rows take more than 50.3 MB"), std::string::npos) << rows();
  core::fs::remove_all(planted.replay("r2").path);
  EXPECT_EQ(rows(), "1");
}

// As JSON, an empty list takes 16 times the memory of its text, and more while it is read.
TEST_F(Index, ValuesOfAnotherUsersRunCountAsItsRowsDo) {
  FLOR_NEEDS_ROOT();
  const auto list = [](std::size_t size) {
    std::string out = "[0";
    for (std::size_t i = 0; i < size; ++i) out += ",[]";
    return out + "]";
  };
  plant("few", row("epoch=0", "x", list(100'000)));
  const std::size_t many = core::foreign_rows_limit / 16 + 1;
  plant("many", row("epoch=0", "x", list(many / 2)) + row("epoch=1", "x", list(many / 2)));
  EXPECT_EQ(ask("SELECT run FROM log"), Lines{R"(["few"])"});
  ASSERT_EQ(last_.warnings.size(), 1U);
  EXPECT_NE(last_.warnings[0].find("run many is left out: its rows take more than 50.3 MB with their values"),
            std::string::npos)
      << last_.warnings[0];
}

// A log of a megabyte can have ten thousand attempts that repeat ten thousand rows each.
TEST_F(Index, RowsThatAttemptsOfAnotherUsersRunRepeatCountAsItsRowsDo) {
  FLOR_NEEDS_ROOT();
  std::string rows;
  for (int i = 0; i < 10'000; ++i) rows += row("epoch=" + std::to_string(i), "x", "1");
  const std::string again =
      "{\"@event\":\"resumed\"}\n{\"@event\":\"kept\",\"loop\":\"epoch\",\"before\":10000}\n";
  const auto attempts = [&](int number) {
    std::string out = rows;
    for (int i = 0; i < number; ++i) out += again;
    return out;
  };
  plant("few", attempts(100));
  plant("many", attempts(10'000));
  for (const char* id : {"few", "many"})
    ASSERT_EQ(::chown(store_.run(id).log().c_str(), test::attacker, test::attacker), 0);
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[10000]"});
  ASSERT_EQ(last_.warnings.size(), 1U);
  EXPECT_NE(last_.warnings[0].find("those that its attempts repeat"), std::string::npos) << last_.warnings[0];
}

// A training of days that was preempted often is no attack.
TEST_F(Index, TheFirstRowsThatAttemptsRepeatCountNothing) {
  FLOR_NEEDS_ROOT();
  const auto log = [](int rows, int attempts) {
    std::string out;
    for (int i = 0; i < rows; ++i) out += row("epoch=" + std::to_string(i), "x", "1");
    for (int i = 0; i < attempts; ++i)
      out += "{\"@event\":\"resumed\"}\n{\"@event\":\"kept\",\"loop\":\"epoch\",\"before\":10000000}\n";
    return out;
  };
  const auto counted = [&](int rows, int attempts) {
    const std::string text = log(rows, attempts);
    plant("r", text);
    EXPECT_EQ(::chown(store_.run("r").log().c_str(), test::attacker, test::attacker), 0);
    results::ForeignRows foreign;
    const core::RunDir planted = store_.run("r");
    return results::read_joined(planted, core::read_manifest(planted), foreign).foreign_bytes - text.size();
  };
  EXPECT_EQ(counted(50'000, 20), 0U);
  EXPECT_GT(counted(50'000, 60), std::size_t{4'000'000}) << "of a short log fewer are free";
}

TEST_F(Index, ALogOfAnotherUserThatHasSeveralNamesIsNotRead) {
  FLOR_NEEDS_ROOT();
  run("mine", row("epoch=0", "x", "1"));
  plant("a", row("epoch=0", "x", "2"));
  plant("b", "");
  core::fs::remove(store_.run("b").log());
  core::fs::create_hard_link(store_.run("a").log(), store_.run("b").log());
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[1]"});
  ASSERT_EQ(last_.warnings.size(), 2U);
  EXPECT_NE(last_.warnings[0].find("has several names"), std::string::npos) << last_.warnings[0];
}

// Units are: a later replay of the same run takes those of an earlier one by links.
TEST_F(Index, UnitsOfAnotherUsersReplayMayHaveSeveralNames) {
  FLOR_NEEDS_ROOT();
  plant("theirs", row("epoch=0", "loss", "1"));
  const core::RunDir planted = store_.run("theirs");
  core::Plan plan = results::testing::plan(1);
  core::fs::path before;
  for (const char* id : {"r1", "r2"}) {
    plan.replay = id;
    const core::ReplayDir replay = planted.replay(id);
    core::fs::create_directories(replay.units());
    core::write_durably(replay.plan(), core::to_json(plan).dump());
    const core::fs::path unit = replay.unit(plan.units.front().id);
    if (before.empty()) {
      core::write_durably(unit,
                          results::testing::unit_text(plan.units.front(), row("epoch=0", "added", "2")));
    } else {
      core::fs::create_hard_link(before, unit);
    }
    before = unit;
  }
  EXPECT_EQ(ask("SELECT value FROM log WHERE name = 'added'"), Lines{"[2]"});
}

TEST_F(Index, RowsOfAnotherUsersRunsAreReadUpToALimitAtOnce) {
  FLOR_NEEDS_ROOT();
  const std::string much(core::foreign_rows_of_one_user / 3, '\n');
  for (const char* id : {"a", "b", "c"}) plant(id, much + row("epoch=0", "x", "1"));
  plant("another", row("epoch=0", "x", "1"), test::attacker + 1);
  run("mine", row("epoch=0", "x", "2"));
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[4]"});
  ASSERT_EQ(last_.warnings.size(), 1U);
  EXPECT_NE(last_.warnings[0].find("1 run of other users is left out"), std::string::npos)
      << last_.warnings[0];
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[5]"}) << "the next query reads the others";
  EXPECT_TRUE(last_.warnings.empty());
}

TEST_F(Index, ARunForWhoseNewRowsThereIsNoRoomStaysAsItWas) {
  FLOR_NEEDS_ROOT();
  const std::string much(core::foreign_rows_of_one_user / 3, '\n');
  plant("c", row("epoch=0", "x", "1"));
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[1]"});
  for (const char* id : {"a", "b"}) plant(id, much + row("epoch=0", "x", "1"));
  std::ofstream(store_.run("c").log(), std::ios::app) << much << row("epoch=1", "x", "1");
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[3]"});
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[4]"});
}

// What the index holds of a run makes room there, and not for more to be read at once.
TEST_F(Index, RowsThatAreReadAgainCountAsOthersDo) {
  FLOR_NEEDS_ROOT();
  const std::string much(core::foreign_rows_of_one_user / 3, '\n');
  for (const char* id : {"a", "b", "c"}) plant(id, much + row("epoch=0", "x", "1"));
  ask("SELECT count(*) FROM log");
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[3]"});
  for (const char* id : {"a", "b", "c"})
    std::ofstream(store_.run(id).log(), std::ios::app) << row("epoch=1", "x", "1");
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[5]"});
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[6]"});
}

// A recording that was killed says for ever that it is being recorded.
TEST_F(Index, RunsThatSayThatTheyAreRecordedKeepNoNewerRunOut) {
  FLOR_NEEDS_ROOT();
  const std::string much(core::foreign_rows_of_one_user / 3, '\n');
  const auto plant_recording = [&](const std::string& id, uid_t owner) {
    plant(id, much + row("epoch=0", "x", "1"), owner);
    core::Manifest manifest = core::read_manifest(store_.run(id));
    manifest.status = "recording";
    core::write_manifest(store_.run(id), manifest);
    ASSERT_EQ(::chown(store_.run(id).manifest().c_str(), owner, owner), 0);
  };
  const uid_t other = test::attacker + 1;
  for (const char* id : {"a", "b"}) plant_recording(id, test::attacker);
  for (const char* id : {"c", "d"}) plant_recording(id, other);
  plant("e", much + row("epoch=0", "x", "1"), test::attacker);
  plant("f", much + row("epoch=0", "x", "1"), other + 1);
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[5]"});
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[6]"});
  EXPECT_EQ(last_.runs, 1U);
  EXPECT_EQ(ask("SELECT count(*) FROM runs WHERE status = 'completed'"), Lines{"[2]"});
  EXPECT_EQ(last_.runs, 0U) << "one that does not change costs nothing";
}

// The recordings of another user grow between any two queries.
TEST_F(Index, RunsThatChangeAtEachQueryTakeTurns) {
  FLOR_NEEDS_ROOT();
  const std::string much(core::foreign_rows_of_one_user / 3, '\n');
  for (const char* id : {"a", "b", "c"}) {
    plant(id, much + row("epoch=0", "x", "1"));
    ask("SELECT count(*) FROM log");
  }
  const auto grow = [&] {
    for (const char* id : {"a", "b", "c"})
      std::ofstream(store_.run(id).log(), std::ios::app) << row("epoch=1", "x", "1");
  };
  grow();
  EXPECT_EQ(ask("SELECT count(*) FROM log GROUP BY run"), (Lines{"[2]", "[2]", "[1]"}));
  grow();
  EXPECT_EQ(ask("SELECT count(*) FROM log GROUP BY run"), (Lines{"[3]", "[2]", "[3]"}));
  plant("d", row("epoch=0", "x", "1"));
  grow();
  EXPECT_EQ(ask("SELECT count(*) FROM log WHERE run = 'd'"), Lines{"[1]"}) << "a new one comes first";
}

// What is refused is not read at each query to be refused again.
TEST_F(Index, ARunThatIsRefusedIsReadAgainWhenItChanges) {
  FLOR_NEEDS_ROOT();
  const std::size_t many = core::foreign_rows_limit / 8 + 1;
  std::string list = "[0";
  for (std::size_t i = 0; i < many; ++i) list += ",1";
  const std::string much(core::foreign_rows_of_one_user / 3, '\n');
  for (const char* id : {"a", "b"}) plant(id, row("epoch=0", "x", list + "]"));
  for (const char* id : {"c", "d"}) plant(id, much + row("epoch=0", "x", "1"));
  for (int i = 0; i < 3; ++i) ask("SELECT count(*) FROM log");
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[2]"});
  EXPECT_EQ(last_.runs, 0U);
  EXPECT_EQ(last_.warnings.size(), 2U) << "it is said each time";
  core::write_durably(store_.run("a").log(), row("epoch=0", "x", "1"));
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[3]"});
  EXPECT_EQ(last_.warnings.size(), 1U);
}

// Else one run with a thousand loops would take the columns of everybody's runs, for good.
TEST_F(Index, ARunOfAnotherUserTakesNoColumnOfThisUsersRuns) {
  FLOR_NEEDS_ROOT();
  const auto plant_loops = [&](const std::string& id, int loops) {
    std::string log;
    for (int i = 0; i < loops; ++i) log += row("loop" + id + "x" + std::to_string(i) + "=0", "loss", "1");
    plant(id, log);
  };
  plant_loops("a", 1000);
  for (int i = 0; i < 11; ++i) plant_loops("b" + std::to_string(i), 50);
  run("mine", row("epoch=0", "loss", "2"));
  EXPECT_EQ(ask("SELECT value FROM log WHERE run = 'mine'"), Lines{"[2]"});
  EXPECT_EQ(ask("SELECT count(*) FROM runs"), Lines{"[11]"}) << "ten of the others, and this one";
  ASSERT_EQ(last_.warnings.size(), 2U);
  EXPECT_NE(last_.warnings[0].find("another user's"), std::string::npos);
  for (int i = 0; i < 10; ++i) core::fs::remove_all(store_.run("b" + std::to_string(i)).path);
  EXPECT_EQ(ask("SELECT count(*) FROM runs"), Lines{"[2]"})
      << "the columns of runs that are gone are free again";
}

TEST_F(Index, ALoopOfAnotherUsersRunHasNoLongName) {
  FLOR_NEEDS_ROOT();
  plant("a", row(std::string(257, 'x') + "=2", "loss", "666"));
  plant("b", row(std::string(256, 'x') + "=2", "loss", "667"));
  run("mine", row(std::string(257, 'y') + "=2", "loss", "1"));
  EXPECT_EQ(ask("SELECT value FROM log ORDER BY value"), (Lines{"[1]", "[667]"}));
  ASSERT_EQ(last_.warnings.size(), 1U);
  EXPECT_NE(last_.warnings[0].find("run a is left out"), std::string::npos) << last_.warnings[0];
}

// SQLite knows the names of columns in any case: EPOCH of a run that was read first would be `epoch`.
TEST_F(Index, ALoopOfAnotherUsersRunTakesNoNameOfThisUsersLoop) {
  FLOR_NEEDS_ROOT();
  plant("a", row("EPOCH=2", "loss", "666") + row("step=2", "loss", "667"));
  EXPECT_EQ(ask("SELECT value FROM log WHERE epoch = 2"), Lines{"[666]"}) << "while no one else has the name";
  run("mine", row("epoch=2/step=1", "loss", "1"));
  EXPECT_EQ(ask("SELECT value FROM log WHERE epoch = 2"), Lines{"[1]"});
  EXPECT_EQ(ask("SELECT value FROM log WHERE \"other.EPOCH\" = 2"), Lines{"[666]"});
  EXPECT_EQ(ask("SELECT value FROM log WHERE step > 0 ORDER BY value"), (Lines{"[1]", "[667]"}))
      << "a loop of the same name has the same column";
  // The index grows: others' loops that are new, and a name that made way once.
  plant("b", row("Epoch=2", "loss", "668") + row("epoch=2", "loss", "2"));
  plant("c", row("batch=2", "loss", "669") + row("BATCH=2", "loss", "670"));
  EXPECT_EQ(ask("SELECT value FROM log WHERE epoch = 2 ORDER BY value"), (Lines{"[1]", "[2]"}));
  run("more", row("other.EPOCH=2/BATCH=2", "loss", "3"));
  EXPECT_EQ(ask("SELECT value FROM log WHERE \"other.EPOCH\" = 2"), Lines{"[3]"});
  EXPECT_EQ(ask("SELECT value FROM log WHERE batch = 2 ORDER BY value"), (Lines{"[3]", "[670]"}));
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[8]"});
  core::fs::remove(file_);
  EXPECT_EQ(ask("SELECT value FROM log WHERE batch = 2 ORDER BY value"), (Lines{"[3]", "[670]"}));
}

TEST_F(Index, ARunOfAnotherUserEndsNoQuery) {
  FLOR_NEEDS_ROOT();
  plant("a", "{\"name\":\"x\",\"value\":1,\"@at\":\"lo\\u0000op=0\"}\n");
  run("mine", row("epoch=0", "loss", "2"));
  EXPECT_EQ(ask("SELECT value FROM log WHERE run = 'mine'"), Lines{"[2]"});
}

}  // namespace
}  // namespace flor::sql
