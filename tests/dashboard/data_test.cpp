// What the page shows, from the files of a store.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>

#include "core/store/manifest.h"
#include "dashboard/data/decisions.h"
#include "dashboard/data/routes.h"
#include "dashboard/data/runs.h"
#include "dashboard/data/series.h"
#include "dashboard/data/signature.h"
#include "support/temporary.h"

namespace flor::dashboard {
namespace {

using core::Json;
using results::Row;

Row row(const std::string& at, const std::string& name, const Json& value) {
  return results::row_from({{"@at", at}, {"name", name}, {"value", value}}, "test");
}

TEST(Series, CountsByTheLoopWhereEachIterationHasOneRow) {
  const auto series = series_of({row("epoch=0", "a", 1.0), row("epoch=0", "b", 9.0), row("epoch=1", "a", 2.0),
                                 row("epoch=4", "a", 3.0)},
                                "a");
  EXPECT_EQ(series.loop, "epoch");
  EXPECT_EQ(series.x, (std::vector<double>{0, 1, 2, 4}));
  EXPECT_TRUE(std::isnan(series.y[2])) << "iterations without a row are a gap";
  EXPECT_EQ(series.y[3], 3.0);
}

TEST(Series, CountsRowsElsewhere) {
  const auto series = series_of({row("epoch=0/step=0", "a", 1.0), row("epoch=0/step=1", "a", "text"),
                                 row("epoch=1/step=0", "a", "NaN")},
                                "a");
  EXPECT_EQ(series.loop, "");
  EXPECT_EQ(series.x, (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(series.y[0], 1.0);
  EXPECT_TRUE(std::isnan(series.y[1]) && std::isnan(series.y[2]));
  EXPECT_EQ(core::json_text(to_json(series)["y"]), "[1.0,null,null]");
}

TEST(Series, KeepsItsExtremesAndGapsWhereItIsThinned) {
  Series series;
  for (int i = 0; i < 100000; ++i) {
    series.x.push_back(i);
    series.y.push_back(std::sin(i / 100.0));
  }
  series.y[31234] = 50;
  series.y[77777] = -50;
  series.y[5555] = std::nan("");
  const Series thin = thinned(series, -1e300, 1e300, 1000);
  EXPECT_LE(thin.x.size(), 1001U);
  EXPECT_TRUE(std::is_sorted(thin.x.begin(), thin.x.end()));
  const auto has = [&](double x, auto&& fits) {
    const auto at = std::find(thin.x.begin(), thin.x.end(), x);
    return at != thin.x.end() && fits(thin.y[static_cast<std::size_t>(at - thin.x.begin())]);
  };
  EXPECT_TRUE(has(31234, [](double y) { return y == 50; }));
  EXPECT_TRUE(has(77777, [](double y) { return y == -50; }));
  EXPECT_TRUE(has(5555, [](double y) { return std::isnan(y); }));
  const Series part = thinned(series, 31230, 31240, 1000);
  EXPECT_EQ(part.x.size(), 11U) << "what is in sight is drawn in full";
  EXPECT_EQ(thinned(series, 5, 4, 1000).x.size(), 0U);
}

TEST(Series, OfEachNameTheLastAndTheExtremesAreKnown) {
  const Json all = summary_of({row("epoch=0", "a", 3), row("epoch=0", "b", "text"),
                               row("epoch=1", "a", "NaN"), row("epoch=2", "a", -1.5),
                               row("epoch=3", "a", "NaN"), row("epoch=3", "c", Json{{"min", 1.0}})});
  EXPECT_EQ(core::json_text(all), R"([{"name":"a","last":"NaN","min":-1.5,"max":3.0},)"
                                  R"({"name":"b","last":"text","min":null,"max":null},)"
                                  R"({"name":"c","last":null,"min":null,"max":null}])");
}

class StoreTest : public ::testing::Test {
 protected:
  core::RunDir make_run(const std::string& id, const std::string& name = "") {
    core::RunDir run = store_.run(id);
    core::fs::create_directories(run.path);
    core::Manifest manifest;
    manifest.id = id;
    manifest.name = name;
    manifest.status = "completed";
    manifest.loops.push_back({"epoch", true, 0, 10, core::LoopEnd::exhausted, 10, 9, 5.0, true});
    core::write_manifest(run, manifest);
    return run;
  }
  Response get(const std::string& target) {
    Request request;
    request.method = "GET";
    request.target = target_from(target).value();
    return routes_.answer(request);
  }

  test::TemporaryDirectory directory_;
  core::Store store_{directory_.path()};
  Routes routes_{store_};
};

TEST_F(StoreTest, OnlyWhatChangesIsReadAndToldOf) {
  Runs runs(store_);
  EXPECT_TRUE(runs.refresh().is_null());
  const core::RunDir first = make_run("r1");
  make_run("r2", "exp");
  EXPECT_EQ(runs.refresh()["changed"].size(), 2U);
  EXPECT_TRUE(runs.refresh().is_null());
  std::ofstream(first.log()) << R"({"@at":"epoch=0","name":"loss","value":0.5})"
                             << "\n"
                             << R"({"@at":"epoch=1","name":"loss","value":"NaN"})"
                             << "\n{\"torn";
  const Json change = runs.refresh();
  ASSERT_EQ(change["changed"].size(), 1U);
  EXPECT_EQ(change["changed"][0]["id"], "r1");
  EXPECT_EQ(core::json_text(change["changed"][0]["values"]), R"({"loss":"NaN"})");
  EXPECT_EQ(change["changed"][0]["done"], 10);
  core::fs::remove_all(first.path);
  EXPECT_EQ(core::json_text(runs.refresh()["removed"]), R"(["r1"])");
  EXPECT_TRUE(runs.refresh().is_null());
  EXPECT_EQ(runs.snapshot()["runs"].size(), 1U);
}

TEST_F(StoreTest, RunsWhereNothingHappensAreLookedAtSeldom) {
  double now = 100;
  Runs runs(store_, [&now] { return now; });
  const core::RunDir run = make_run("r1");
  const auto touch = [&run](const char* name) {
    core::fs::create_directories(run.replay(name).path);
    std::ofstream(run.replay(name).plan()) << "{}";
  };
  EXPECT_FALSE(runs.refresh().is_null());
  touch("a");
  EXPECT_FALSE(runs.refresh().is_null()) << "something has just happened";
  now += 20;
  EXPECT_TRUE(runs.refresh().is_null());
  touch("b");
  EXPECT_TRUE(runs.refresh().is_null());
  now += 4;
  EXPECT_EQ(runs.refresh()["changed"][0]["replays"], 2);
  touch("c");
  EXPECT_EQ(runs.refresh()["changed"][0]["replays"], 3);
}

TEST_F(StoreTest, TheSnapshotsTextIsTheSnapshot) {
  Runs runs(store_);
  EXPECT_EQ(core::parse_json(runs.snapshot_text()), runs.snapshot());
  for (const char* id : {"r1", "r2"}) make_run(id);
  runs.refresh();
  EXPECT_EQ(runs.snapshot_text(), core::json_text(runs.snapshot()));
}

TEST_F(StoreTest, AReplayThatGoesOnIsToldOfAndChangesNoLine) {
  Runs runs(store_);
  const core::RunDir run = make_run("r1");
  core::fs::create_directories(run.replay("x").units());
  std::ofstream(run.replay("x").plan()) << "{}";
  const Json line = runs.refresh()["changed"][0];
  std::ofstream(run.replay("x").units() / "000000.jsonl") << "{}\n";
  const Json change = runs.refresh();
  ASSERT_FALSE(change.is_null());
  EXPECT_EQ(change["changed"][0], line);
}

TEST_F(StoreTest, ARunThatCannotBeReadIsListedWithTheReason) {
  std::ofstream(make_run("r1").manifest()) << "{\"format\": 99}";
  Runs runs(store_);
  const Json change = runs.refresh();
  EXPECT_EQ(change["changed"][0]["status"], "unreadable");
  EXPECT_NE(change["changed"][0]["problem"].get<std::string>().find("run.json"), std::string::npos);
}

// In a shared store, what lies in a run is its owner's choice.
// Every viewer gets every line, and one manifest of megabytes can stand for a thousand runs.
TEST_F(StoreTest, ALineIsShortHoweverLongItsManifestIs) {
  const std::string long_text(1 << 20, 'x');
  const core::RunDir run = store_.run("r1");
  core::fs::create_directories(run.path);
  core::Manifest manifest;
  manifest.id = "r1";
  manifest.name = manifest.host = manifest.slurm_job = long_text;
  manifest.command = {"./train", long_text, long_text};
  for (int i = 0; i < 1000; ++i) manifest.args["argument" + std::to_string(i)] = std::string(1000, 'y');
  manifest.status = long_text;
  core::write_manifest(run, manifest);
  const Json line = run_line(run);
  EXPECT_LT(core::json_text(line).size(), 32768U);
  EXPECT_EQ(line["command"][0], "./train");
  EXPECT_EQ(line["name"], std::string(125, 'x') + "...");
  EXPECT_EQ(line["args"]["argument0"], std::string(1000, 'y'));
}

// Its owner may put anything in its place, at any time.
TEST_F(StoreTest, AManifestThatTurnsBadHidesNoChangeOfOtherRuns) {
  Runs runs(store_);
  for (const char* id : {"r1", "r2"}) {
    const core::RunDir run = make_run(id);
    core::Manifest manifest = core::read_manifest(run);
    manifest.status = "recording";
    core::write_manifest(run, manifest);
  }
  runs.refresh();
  std::ofstream(store_.run("r1").manifest()) << "no JSON";
  core::Manifest manifest = core::read_manifest(store_.run("r2"));
  manifest.status = "failed";
  core::write_manifest(store_.run("r2"), manifest);
  const Json changed = runs.refresh()["changed"];
  ASSERT_EQ(changed.size(), 2U);
  EXPECT_EQ(changed[0]["status"], "unreadable");
  EXPECT_EQ(changed[1]["status"], "failed");
}

TEST_F(StoreTest, ALogThatIsALinkOrAPipeIsNotRead) {
  const core::RunDir secret = make_run("secret");
  std::ofstream(secret.log()) << R"({"@at":"epoch=0","name":"loss","value":0.5})"
                              << "\n";
  const core::RunDir linked = make_run("linked"), piped = make_run("piped");
  core::fs::create_symlink(secret.log(), linked.log());
  ASSERT_EQ(::mkfifo(piped.log().c_str(), 0600), 0);
  for (const auto& run : {linked, piped})
    EXPECT_EQ(core::json_text(run_line(run)["values"]), "{}") << run.id();
  EXPECT_EQ(core::json_text(run_line(secret)["values"]), R"({"loss":0.5})");
}

TEST_F(StoreTest, NoLinkTellsWhatItLeadsTo) {
  const core::fs::path secret = directory_.path() / "secret";
  std::ofstream(secret) << "1";
  const core::RunDir run = make_run("r1");
  core::fs::create_symlink(secret, run.log());
  const std::string before = signature_of(run);
  std::ofstream(secret) << "1234";
  EXPECT_EQ(signature_of(run), before);
  core::fs::create_directory_symlink(run.path, store_.run("link").path);
  EXPECT_EQ(get("/data/runs/link").status, 404);
  core::fs::remove(run.log());
  EXPECT_EQ(get("/data/runs/r1").status, 200);
}

TEST_F(StoreTest, AnswersWithARunAndItsRows) {
  std::ofstream(make_run("r1", "exp").log()) << R"({"@at":"epoch=0","name":"<b>loss","value":0.5})"
                                             << "\n";
  const Response run = get("/data/runs/r1");
  EXPECT_EQ(run.status, 200);
  EXPECT_EQ(Json::parse(run.body)["names"][0]["name"], "<b>loss");
  EXPECT_EQ(Json::parse(get("/data/runs/r1/series?name=%3Cb%3Eloss").body)["y"][0], 0.5);
  EXPECT_EQ(Json::parse(get("/data/runs/r1/series?name=none").body)["of"], 0);
}

TEST_F(StoreTest, LeadsNowhereElse) {
  make_run("r1");
  std::ofstream(directory_.path() / "secret") << "secret";
  for (const char* target :
       {"/data/runs/none", "/data/runs/", "/data/runs", "/data/", "/data/runs/.r1", "/data/runs/r1/",
        "/data/runs/r1/log.jsonl", "/data/runs/r1/replays/x", "/data/runs/r1%2Frun.json", "/secret", "/page/",
        "/page/../secret.js", "/page/vendor", "/data/runs/r1/series"})
    EXPECT_TRUE(!target_from(target) || get(target).status == 404) << target;
  for (const char* target :
       {"/", "/compare?runs=a", "/run/anything", "/page/app.js", "/page/vendor/uplot/uPlot.esm.js"})
    EXPECT_EQ(get(target).status, 200) << target;
}

std::string block_row(int number, const std::string& decision) {
  return R"({"kind":"block","at":"epoch=)" + std::to_string(number) +
         R"(/train#0","block":"train","own":2.0,)" +
         R"("stall":0.25,"interference":0.25,"bytes":100,"decision":")" + decision + R"(","why":"because ")" +
         "}\n";
}

TEST(Decisions, AddUpWhatWasComputedAndSpent) {
  const auto all = decisions_of(
      core::parse_timeline(block_row(0, "materialize") + R"({"kind":"iteration","loop":"epoch","value":0})" +
                               "\n" + block_row(1, "skip") + block_row(2, "failed"),
                           "timeline"),
      10);
  EXPECT_EQ(all.at("computed"), 6.0);
  EXPECT_EQ(all.at("spent"), 1.5);
  EXPECT_EQ(all.at("of"), 3);
  EXPECT_EQ(all.at("blocks"), core::Json({"train"}));
  EXPECT_EQ(all.at("points")[1].dump(), R"([4.0,0,0,0.5,100,"epoch=1/train#0",0])");
  EXPECT_EQ(all.at("points")[2][2], 2);
}

TEST(Decisions, OfMoreThanCanBeDrawnTheTakenOnesStay) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += block_row(i, i % 100 == 7 ? "materialize" : "skip");
  const auto taken = [](const core::Json& all) {
    int count = 0;
    for (const auto& point : all.at("points")) count += point[2] == 1 ? 1 : 0;
    return count;
  };
  const auto timeline = core::parse_timeline(text, "timeline");
  const auto some = decisions_of(timeline, 100);
  EXPECT_LE(some.at("points").size(), 100U);
  EXPECT_GT(some.at("points").size(), 50U);
  EXPECT_EQ(taken(some), 10);
  EXPECT_EQ(some.at("of"), 1000);
  EXPECT_EQ(some.at("computed"), 2000.0);
  const auto few = decisions_of(timeline, 5);
  EXPECT_LE(few.at("points").size(), 5U);
  EXPECT_GT(taken(few), 0);
}

}  // namespace
}  // namespace flor::dashboard
