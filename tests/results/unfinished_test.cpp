#include "results/unfinished.h"

#include <gtest/gtest.h>

#include "core/files/durable.h"
#include "support/temporary.h"

namespace flor::results {
namespace {

namespace fs = core::fs;

struct Replay {
  test::TemporaryDirectory directory;
  core::ReplayDir dir{directory.path()};

  fs::path file(const fs::path& path) const {
    fs::create_directories(path.parent_path());
    core::write_durably(path, "x");
    return path;
  }
};

TEST(Unfinished, UnitsThatKilledWorkersWroteAreRemoved) {
  const Replay replay;
  const auto unit = replay.file(replay.dir.unit(7));
  const auto left = replay.file(replay.dir.units() / ".000007.jsonl.tmp.123.4");
  remove_unfinished(replay.dir);
  EXPECT_TRUE(fs::exists(unit));
  EXPECT_FALSE(fs::exists(left));
}

TEST(Unfinished, NotesAreKeptWhileTheirWorkerLives) {
  const Replay replay;
  const auto notes = replay.file(replay.dir.workers() / "n1.12.json");
  const auto left = replay.file(replay.dir.workers() / ".n1.12.json.tmp.123.4");
  {
    const auto alive = core::FileLock::try_take(replay.dir.workers() / "n1.12.lock");
    ASSERT_TRUE(alive);
    remove_unfinished(replay.dir);
    EXPECT_TRUE(fs::exists(left));
  }
  remove_unfinished(replay.dir);
  EXPECT_TRUE(fs::exists(notes));
  EXPECT_FALSE(fs::exists(left));
}

TEST(Unfinished, AReplayWithoutWorkersHasNone) {
  const Replay replay;
  remove_unfinished(replay.dir);
}

}  // namespace
}  // namespace flor::results
