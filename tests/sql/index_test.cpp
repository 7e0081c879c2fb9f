// The index of a store: what queries see, when it is read again, and what they may not do.
#include "index_fixture.h"

namespace flor::sql {
namespace {

TEST_F(Index, RowsInManyLoopsNeedLittleMemory) {
  std::string log;
  const std::string loops = "abcdefghij";
  for (const char i : loops)
    for (const char j : loops)
      for (const char k : loops)
        if (i != j && j != k && i != k)
          log += row({i, '=', '0', '/', j, '=', '0', '/', k, '=', '0'}, "x", "1");
  run("r", log);
  sqlite3_memory_highwater(1);
  const sqlite3_int64 before = sqlite3_memory_used();
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[720]"});
  // A statement for each order of loops took 12 kB.
  EXPECT_LT(sqlite3_memory_highwater(0) - before, 4 << 20);
}

TEST_F(Index, AValueComesBackAsItWasLogged) {
  const std::vector<std::pair<std::string, std::string>> values = {
      {"1", "[1,null]"},
      {"-9223372036854775808", "[-9223372036854775808,null]"},
      {"9223372036854775807", "[9223372036854775807,null]"},
      {"18446744073709551615", "[18446744073709551616.0,\"18446744073709551615\"]"},
      {"0.1", "[0.1,null]"},
      {"2.0", "[2.0,null]"},
      {"-0.0", "[-0.0,null]"},
      {"5e-324", "[5e-324,null]"},
      {"\"NaN\"", "[null,\"NaN\"]"},
      {"\"Infinity\"", "[\"Infinity\",null]"},
      {"\"-Infinity\"", "[\"-Infinity\",null]"},
      {"null", "[null,\"null\"]"},
      {"true", "[1,\"true\"]"},
      {"\"größer\"", "[\"größer\",null]"},
      {"\"\"", "[\"\",null]"},
      {"{\"mean\":0.5}", R"([null,"{\"mean\":0.5}"])"},
  };
  std::string log;
  Lines expected;
  for (const auto& [logged, seen] : values) {
    log += row("epoch=0", "größe", logged);
    expected.push_back(seen);
  }
  run("20261120-143005-a3f9", log);
  EXPECT_EQ(ask("SELECT value, exact FROM log WHERE name = 'größe' ORDER BY position"), expected);
  // What is no number counts for nothing, and not for 0.
  EXPECT_EQ(ask("SELECT count(*), count(value) FROM log"), Lines{"[16,13]"});
}

// As where a file server failed while it was read.
TEST_F(Index, AUnitThatCouldNotBeReadIsReadTheNextTime) {
  const core::RunDir of =
      run("20261120-143005-a3f9", row("epoch=0", "loss", "1") + row("epoch=1", "loss", "2"));
  const core::ReplayDir replay = of.replay("r1");
  core::fs::create_directories(replay.units());
  const core::Plan plan = results::testing::plan(2);
  core::write_durably(replay.plan(), core::to_json(plan).dump());
  for (int64_t epoch = 0; epoch < 2; ++epoch)
    core::write_durably(replay.unit(epoch),
                        results::testing::unit_text(plan.units[static_cast<std::size_t>(epoch)],
                                                    row("epoch=" + std::to_string(epoch), "grad", "3")));
  const std::string whole = core::read_file(replay.unit(1));
  const auto put = [&](const std::string& text) {
    std::ofstream(replay.unit(1)) << text;
  };  // into the same file
  put("?");
  EXPECT_EQ(ask("SELECT sum(value) FROM log WHERE name = 'grad'"), Lines{"[3]"});
  EXPECT_EQ(last_.warnings.size(), 1U);
  put(whole);
  EXPECT_EQ(ask("SELECT sum(value) FROM log WHERE name = 'grad'"), Lines{"[6]"});
  EXPECT_TRUE(last_.warnings.empty());
}

TEST_F(Index, EachLoopIsAColumnWhateverItsName) {
  run("20261120-143005-a3f9", row("epoch=0", "loss", "1.5") + row("epoch=1/step=7", "loss", "2.5") +
                                  row("epoch=1/Value=3", "loss", "3.5") + row("", "seed", "4"));
  EXPECT_EQ(ask("SELECT epoch, step, \"loop.Value\", value FROM log ORDER BY position"),
            (Lines{"[0,null,null,1.5]", "[1,7,null,2.5]", "[1,null,3,3.5]", "[null,null,null,4]"}));
  // Another run has another loop.
  run("20261120-143006-a3f9", row(R"(batch\"2=2)", "loss", "5.5"));
  run("20261120-143007-a3f9", row(R"(a\"; DROP TABLE base_rows; --=2)", "loss", "5.5"));
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[6]"});
}

TEST_F(Index, RunsArgumentsAndCoverageAreTables) {
  run("20261120-143005-a3f9", row("epoch=0", "loss", "1.5"),
      {{"lr", "1e-2"}, {"seed", "007"}, {"model", "net"}});
  EXPECT_EQ(ask("SELECT run, status, loop, iterations FROM runs"),
            Lines{R"(["20261120-143005-a3f9","completed","epoch",2])"});
  EXPECT_EQ(ask("SELECT name, value, text FROM args ORDER BY name"),
            (Lines{R"(["lr",0.01,"1e-2"])", R"(["model","net","net"])", R"(["seed",7,"007"])"}));
  EXPECT_EQ(ask("SELECT name, recorded, iterations, \"of\" FROM coverage"), Lines{"[\"loss\",1,1,2]"});
}

TEST_F(Index, RowsThatAReplayAddedAreThere) {
  const core::RunDir recorded =
      run("20261120-143005-a3f9", row("epoch=0", "loss", "1") + row("epoch=1", "loss", "2"));
  const core::ReplayDir replay = recorded.replay("r1");
  const core::Plan plan = results::testing::plan(2);
  core::fs::create_directories(replay.units());
  core::write_durably(replay.plan(), core::to_json(plan).dump());
  const std::string question = "SELECT epoch, name, value FROM log WHERE name = 'grad' ORDER BY epoch";
  EXPECT_EQ(ask(question), Lines{});
  const auto commit = [&](int64_t epoch) {
    core::write_durably(replay.unit(epoch),
                        results::testing::unit_text(plan.units[static_cast<std::size_t>(epoch)],
                                                    row("epoch=" + std::to_string(epoch), "grad", "0.5")));
  };
  commit(0);
  EXPECT_EQ(ask(question), Lines{"[0,\"grad\",0.5]"});
  commit(1);
  EXPECT_EQ(ask(question), (Lines{"[0,\"grad\",0.5]", "[1,\"grad\",0.5]"}));
  EXPECT_EQ(ask("SELECT recorded FROM coverage ORDER BY name"), (Lines{"[0]", "[1]"}));
}

TEST_F(Index, OnlyWhatChangedIsReadAgain) {
  const std::string all = "SELECT run, value FROM log ORDER BY run, position";
  const core::RunDir first = run("20261120-143005-a3f9", row("epoch=0", "loss", "1"));
  run("20261120-143006-a3f9", row("epoch=0", "loss", "2"));
  EXPECT_EQ(ask(all).size(), 2U);
  EXPECT_EQ(last_.runs, 2U);
  EXPECT_EQ(last_.rows, 2U);
  ask(all);
  EXPECT_EQ(last_.runs, 0U);

  std::ofstream(first.log(), std::ios::app) << row("epoch=1", "loss", "3");
  EXPECT_EQ(ask(all), (Lines{"[\"20261120-143005-a3f9\",1]", "[\"20261120-143005-a3f9\",3]",
                             "[\"20261120-143006-a3f9\",2]"}));
  EXPECT_EQ(last_.runs, 1U);

  core::fs::remove_all(first.path);
  EXPECT_EQ(ask(all), Lines{"[\"20261120-143006-a3f9\",2]"});
  EXPECT_EQ(ask("SELECT count(*) FROM args"), Lines{"[0]"});
}

TEST_F(Index, ARecordingIsReadAgainOnlyWhereItChanged) {
  const core::RunDir recorded = run("20261120-143005-a3f9", row("epoch=0", "loss", "1"));
  core::Manifest manifest = core::read_manifest(recorded);
  manifest.status = "recording";
  core::write_manifest(recorded, manifest);
  std::optional<core::FileLock> lives = core::FileLock::take(recorded.lock());
  ASSERT_TRUE(lives);
  EXPECT_EQ(ask("SELECT status FROM runs"), Lines{"[\"recording\"]"});
  EXPECT_EQ(last_.runs, 1U);
  std::ofstream(recorded.log(), std::ios::app) << row("epoch=1", "loss", "2");
  EXPECT_EQ(ask("SELECT count(*) FROM log"), Lines{"[2]"});
  EXPECT_EQ(last_.runs, 1U);
  std::ofstream(recorded.timeline(), std::ios::app) << "\n";
  ask("SELECT count(*) FROM log");
  EXPECT_EQ(last_.runs, 1U) << "how far it is stands there";
  lives.reset();
  EXPECT_EQ(ask("SELECT status FROM runs"), Lines{"[\"killed\"]"}) << "nothing was written";
  EXPECT_EQ(last_.runs, 0U);
}

TEST_F(Index, OneThatIsDamagedOrOfAnotherVersionIsMadeAnew) {
  run("20261120-143005-a3f9", row("epoch=0", "loss", "1"));
  const std::string all = "SELECT value FROM log";
  ask(all);
  const auto size = core::fs::file_size(file_);
  for (const auto& damage : std::vector<std::function<void()>>{
           [&] {
             core::write_durably(file_,
                                 "no database at all, and longer than a header of SQLite is, which has a "
                                 "hundred bytes");
           },
           [&] { core::fs::resize_file(file_, size / 2); }, [&] { core::fs::resize_file(file_, 0); },
           [&] { Database(file_, Database::Access::write).execute("PRAGMA user_version = 7"); },
           [&] { core::fs::remove(file_); }}) {
    damage();
    EXPECT_EQ(ask(all), Lines{"[1]"});
    EXPECT_EQ(last_.runs, 1U);
  }
}

TEST_F(Index, ADamagedRunIsLeftOutAndNamedEachTime) {
  run("20261120-143005-a3f9", row("epoch=0", "loss", "1"));
  const core::RunDir damaged = run("20261120-143006-a3f9", row("epoch=0", "loss", "2"));
  EXPECT_EQ(ask("SELECT value FROM log ORDER BY run").size(), 2U);
  core::write_durably(damaged.log(), "{no row}\n" + row("epoch=0", "loss", "2"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ask("SELECT value FROM log"), Lines{"[1]"});
    ASSERT_EQ(last_.warnings.size(), 1U);
    EXPECT_NE(last_.warnings[0].find(damaged.log().string()), std::string::npos);
  }
}

TEST_F(Index, ARunWithMoreLoopsThanATableHasColumnsIsLeftOut) {
  std::string log;
  for (int i = 0; i < 1100; ++i) log += row("loop" + std::to_string(i) + "=0", "loss", "1");
  run("20261120-143005-a3f9", log);
  run("20261120-143006-a3f9", row("epoch=0", "loss", "2"));
  EXPECT_EQ(ask("SELECT value FROM log"), Lines{"[2]"});
  ASSERT_EQ(last_.warnings.size(), 1U);
  EXPECT_NE(last_.warnings[0].find("more than 1000 loops"), std::string::npos);
}

TEST_F(Index, AQueryReadsAndDoesNothingElse) {
  run("20261120-143005-a3f9", row("epoch=0", "loss", "1"));
  const auto other = directory_.path() / "other.sqlite";
  for (const std::string query :
       {"DELETE FROM base_rows", "DROP VIEW log", "CREATE TABLE mine(a)", "CREATE TEMP TABLE mine(a)",
        "PRAGMA user_version = 2", "PRAGMA journal_mode = WAL", "BEGIN", "VACUUM"}) {
    EXPECT_NE(core::refusal_of([&] { ask(query); }).find("only SELECT"), std::string::npos) << query;
  }
  EXPECT_NE(core::refusal_of([&] { ask("ATTACH '" + other.string() + "' AS other"); }).find("only SELECT"),
            std::string::npos);
  EXPECT_FALSE(core::fs::exists(other));
  EXPECT_NE(core::refusal_of([&] { ask("SELECT 1; SELECT 2"); }).find("one query"), std::string::npos);
  EXPECT_NE(core::refusal_of([&] { ask(" -- nothing"); }).find("empty"), std::string::npos);
  EXPECT_NE(core::refusal_of([&] { ask("SELECT los FROM log"); }).find("no such column: los"),
            std::string::npos);
  EXPECT_EQ(ask("SELECT value FROM log; "), Lines{"[1]"});
}

TEST_F(Index, SeveralMayReadTheStoreAtOnce) {
  for (int i = 10; i < 40; ++i)
    run("20261120-1430" + std::to_string(i) + "-a3f9",
        row("epoch=0", "loss", "1") + row("epoch=1", "loss", "2"));
  // As two users, or two nodes, and twice by one.
  const auto elsewhere = directory_.path() / "elsewhere.sqlite";
  std::vector<std::thread> threads;
  std::array<std::string, 4> problems;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      try {
        refresh(i % 2 == 0 ? file_ : elsewhere, store_);
      } catch (const std::exception& problem) {
        problems.at(i) = problem.what();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& problem : problems) EXPECT_EQ(problem, "");
  for (const auto& file : {file_, elsewhere}) {
    Database database(file, Database::Access::read);
    Statement rows(database, "SELECT count(*), count(DISTINCT run), sum(value) FROM log");
    ASSERT_TRUE(rows.step());
    EXPECT_EQ(rows.value(0), 60);
    EXPECT_EQ(rows.value(1), 30);
    EXPECT_EQ(rows.value(2).get<double>(), 90);
  }
}

}  // namespace
}  // namespace flor::sql
