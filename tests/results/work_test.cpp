// Who did what, when; and the time that is left.
#include "results/work.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/files/durable.h"
#include "core/files/file_lock.h"
#include "support/another_user.h"
#include "support/temporary.h"

namespace flor::results {
namespace {

core::Plan plan_of(const std::vector<double>& work) {
  core::Plan plan;
  for (const double seconds : work) {
    core::Unit unit;
    unit.id = static_cast<int64_t>(plan.units.size());
    unit.work = seconds;
    plan.units.push_back(unit);
  }
  plan.selected = core::UnitSet(0, static_cast<int64_t>(work.size()));
  return plan;
}

WorkerWork worker(const std::string& name, std::vector<UnitWork> units) {
  WorkerWork out;
  out.worker = name;
  out.units = std::move(units);
  return out;
}

TEST(Work, AddsUpToTheTimeThatWorkersHeld) {
  const auto plan = plan_of({10, 10, 10});
  std::vector<WorkerWork> work = {worker("a", {{0, 100, 10, 1}, {1, 110, 10, 0}}),
                                  worker("b", {{2, 102, std::nullopt, 0}, {2, 105, 20, 2}})};
  find_given_up(work);
  const auto totals = totals_of(work, plan, std::nullopt);
  EXPECT_DOUBLE_EQ(totals.elapsed, 25);
  EXPECT_DOUBLE_EQ(totals.held, 20 + 23);
  EXPECT_DOUBLE_EQ(totals.worked, 40);
  EXPECT_DOUBLE_EQ(totals.restored, 3);
  EXPECT_DOUBLE_EQ(totals.redone, 3) << "the unit that was interrupted";
  EXPECT_DOUBLE_EQ(totals.idle(), 0);
  EXPECT_EQ(totals.left, std::nullopt);
}

TEST(Work, OfAUnitThatTwoExecutedTheFirstCounts) {
  const auto totals = totals_of({worker("a", {{0, 100, 30, 0}}), worker("b", {{0, 110, 10, 0}})},
                                plan_of({10}), std::nullopt);
  EXPECT_DOUBLE_EQ(totals.worked, 10);
  EXPECT_DOUBLE_EQ(totals.redone, 30);
}

TEST(Work, OfAKilledWorkerIsGivenUpWhenItIsCommittedElsewhere) {
  std::vector<WorkerWork> work = {worker("a", {{0, 100, std::nullopt, 0}}),
                                  worker("b", {{1, 95, 9, 0}, {0, 104, std::nullopt, 0}})};
  find_given_up(work);
  EXPECT_EQ(work[0].units[0].given_up, std::nullopt) << "both may run it";
  work[1].units[1].seconds = 10;
  find_given_up(work);
  EXPECT_EQ(work[0].units[0].given_up, 104);
  EXPECT_EQ(work[1].units[1].given_up, std::nullopt);
  EXPECT_DOUBLE_EQ(totals_of(work, plan_of({10, 10}), std::nullopt).redone, 4);
}

TEST(Work, OfTheSlowerOfTwoIsGivenUpWhenTheOtherCommits) {
  std::vector<WorkerWork> work = {worker("a", {{0, 100, 20, 0}}), worker("b", {{0, 110, std::nullopt, 0}})};
  find_given_up(work);
  EXPECT_EQ(work[1].units[0].given_up, 120);
}

TEST(Work, SaysHowMuchIsLeftByTheUnitsSoFar) {
  const auto plan = plan_of({10, 10, 10, 10, 10, 10, 10, 10});
  std::vector<UnitWork> done;
  for (const auto& [unit, seconds] : {std::pair{0, 10.0}, {1, 20.0}, {2, 20.0}, {3, 30.0}}) {
    const double began = done.empty() ? 100 : done.back().began + *done.back().seconds;
    done.push_back({unit, began, seconds, 0});
  }
  done.push_back({4, 180, std::nullopt, 0});
  const auto totals = totals_of({worker("a", done)}, plan, 185);
  ASSERT_TRUE(totals.left);
  EXPECT_DOUBLE_EQ(totals.left->first, 4 * 20 - 5) << "four units are left, one of them runs for 5 s";
  EXPECT_DOUBLE_EQ(totals.left->second, 4 * 20 - 5);
  auto two = worker("b", {{5, 180, std::nullopt, 0}});
  EXPECT_DOUBLE_EQ(totals_of({worker("a", done), two}, plan, 185).left->first, (4 * 20 - 10) / 2.0);
  EXPECT_EQ(totals_of({two}, plan, 185).left, std::nullopt) << "nothing to go by";
}

TEST(Work, OfAnotherUserIsReadUpToSoManyValues) {
  FLOR_NEEDS_ROOT();
  const test::TemporaryDirectory directory;
  const core::ReplayDir replay{directory.path() / "replay"};
  core::create_directories_durably(replay.workers());
  std::string nested = "{\"unit\":3,\"began\":10,\"x\":[0";
  for (int i = 0; i < 5'000'000; ++i) nested += ",[]";
  const core::fs::path file = replay.workers() / "n1.7.work.jsonl";
  core::write_durably(file, nested + "]}\n");
  ASSERT_EQ(read_work(replay).size(), 1U);
  EXPECT_EQ(read_work(replay)[0].units.size(), 1U) << "this user's is read whole";
  ASSERT_EQ(::chown(file.c_str(), test::attacker, test::attacker), 0);
  ASSERT_EQ(read_work(replay).size(), 1U);
  EXPECT_TRUE(read_work(replay)[0].units.empty());
}

TEST(Work, IsNotReadBehindALink) {
  const test::TemporaryDirectory directory;
  const core::ReplayDir replay{directory.path() / "replay"};
  const core::fs::path elsewhere = directory.path() / "elsewhere";
  core::create_directories_durably(elsewhere);
  core::create_directories_durably(replay.path);
  core::write_durably(elsewhere / "n1.7.work.jsonl", "{\"unit\":3,\"began\":10}\n");
  core::fs::create_directory_symlink(elsewhere, replay.workers());
  const core::FileLock lock = core::FileLock::take(elsewhere / "n1.7.lock");
  EXPECT_TRUE(read_work(replay).empty());
  EXPECT_FALSE(goes_on(replay));
}

TEST(Work, IsReadFromTheFilesOfTheWorkers) {
  const test::TemporaryDirectory directory;
  const core::ReplayDir replay{directory.path() / "replay"};
  core::create_directories_durably(replay.workers());
  core::write_durably(replay.workers() / "n1.7.json", R"({"node":"n1","gpu":"0","job":"7","task":"1"})");
  core::write_durably(replay.workers() / "n1.7.work.jsonl",
                      "{\"unit\":3,\"began\":10}\n{\"unit\":3,\"began\":10,\"seconds\":2,\"restore\":0.5}\n"
                      "{\"unit\":4,\"began\":12}\n{\"unit\":4,\"be");
  core::write_durably(replay.workers() / "other.out", "{\"unit\":9,\"began\":1}\n");
  core::write_durably(replay.workers() / "damaged.work.jsonl", "no line of ours\n{}\n");
  const auto work = read_work(replay);
  ASSERT_EQ(work.size(), 2U);
  EXPECT_TRUE(work[0].units.empty());
  EXPECT_EQ(work[1].node, "n1");
  ASSERT_EQ(work[1].units.size(), 2U);
  EXPECT_EQ(work[1].units[0].seconds, 2);
  EXPECT_EQ(work[1].units[0].restore, 0.5);
  EXPECT_EQ(work[1].units[1].unit, 4);
  EXPECT_EQ(work[1].units[1].seconds, std::nullopt);
  EXPECT_EQ(to_json(work, {}).at("workers")[1].at("units")[1].dump(), "[4,12.0,null,0.0,null]");
}

TEST(Work, GoesOnWhileAProcessHoldsAPresenceFile) {
  const test::TemporaryDirectory directory;
  const core::ReplayDir replay{directory.path() / "replay"};
  core::create_directories_durably(replay.workers());
  EXPECT_FALSE(goes_on(replay));
  auto lock = core::FileLock::try_take(replay.workers() / "n1.lock");
  ASSERT_TRUE(lock);
  EXPECT_TRUE(goes_on(replay));
  lock.reset();
  EXPECT_FALSE(goes_on(replay));
}

}  // namespace
}  // namespace flor::results
