// Which replays a program joins.
#include "core/replaying/worker.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/files/durable.h"
#include "core/store/manifest.h"
#include "support/refusal.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

// As of a run that was copied with its links. `flor replay` refuses it, and so does a program that is started
// as its worker by hand.
TEST(WorkerJoins, NoReplayOfACopiedRunBehindALink) {
  const test::TemporaryDirectory directory;
  const Store store(directory / "store");
  const fs::path elsewhere = directory / "elsewhere";
  fs::create_directories(store.run("copied").path);
  fs::create_directory(elsewhere);
  write_manifest(store.run("copied"), Manifest());
  fs::create_directory_symlink(elsewhere, store.run("copied").replays());
  ::setenv("FLOR_STORE", store.path().c_str(), 1);
  ::setenv("FLOR_REPLAY", "copied/r1", 1);
  const std::string said = refusal_of([] { Worker::join(Settings::load()); });
  ::unsetenv("FLOR_STORE");
  ::unsetenv("FLOR_REPLAY");
  EXPECT_NE(said.find("run copied: " + store.run("copied").replays().string() + " is a link"),
            std::string::npos)
      << said;
  EXPECT_TRUE(fs::is_empty(elsewhere));
}

}  // namespace
}  // namespace flor::core
