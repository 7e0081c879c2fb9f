// What the Checkpointer tells the policy, and the timeline: real materializer, real files.
#include "core/recording/checkpointer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "core/base/nontemporal_copy.h"
#include "core/files/json_lines.h"
#include "core/materialize/copy_turn.h"
#include "core/policy/spacing.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

class CheckpointerTest : public ::testing::Test {
 protected:
  CheckpointerTest() {
    fs::create_directories(run.path);
    state.resize(1000, 1);
  }

  std::vector<Buffer> live() {
    ++saved;
    Buffer buffer;
    buffer.name = "0.value";
    buffer.dtype = "U8";
    buffer.shape = {static_cast<int64_t>(state.size())};
    buffer.bytes = state.size();
    buffer.data = state.data();
    return {buffer};
  }

  // Executions as `scenario` makes them; returns the rows of kind `block`.
  template <class Scenario>
  std::vector<Json> recorded(const Manifest& manifest, Scenario scenario) {
    Journal journal({run.log(), run.timeline(), run.generators()},
                    [](Journal::Failure, const std::string&) {});
    {
      Checkpointer checkpointer(run, manifest, journal,
                                [](const std::string& what) { ADD_FAILURE() << what; });
      scenario(checkpointer);
      checkpointer.drain();
    }
    EXPECT_TRUE(journal.sync());
    std::vector<Json> out;
    for (auto& row : read_json_lines(run.timeline()).rows) {
      if (row["kind"] == "block") out.push_back(std::move(row));
    }
    return out;
  }

  void end(Checkpointer& checkpointer, const std::string& block, double seconds,
           const Checkpointer::Start& start, const char* forced = nullptr, bool final = false) {
    const std::string at = "epoch=" + std::to_string(ended++);
    checkpointer.on_execution_end(
        {block, at + "/" + block, RunDir::checkpoint_file(block, at).string(), final}, seconds, start, forced,
        [this] { return live(); });
  }

  test::TemporaryDirectory directory;
  RunDir run{directory / "run"};
  std::vector<unsigned char> state;
  int ended = 0;
  int saved = 0;  // times that somebody asked for the state
};

TEST_F(CheckpointerTest, CountsTheTimeOfNestedBlocksOnce) {
  const auto rows = recorded({}, [&](Checkpointer& checkpointer) {
    const auto iteration = checkpointer.mark_start();
    end(checkpointer, "before", 1, checkpointer.mark_start());
    const auto outer = checkpointer.mark_start();
    for (int i = 0; i < 3; ++i) end(checkpointer, "inner", 2, checkpointer.mark_start());
    end(checkpointer, "outer", 10, outer);
    end(checkpointer, "@iteration", 12, iteration);
  });
  std::vector<double> own;
  for (const auto& row : rows) own.push_back(row["own"]);
  EXPECT_EQ(own, (std::vector<double>{1, 2, 2, 2, 4, 1}));
}

TEST_F(CheckpointerTest, TheTimelineHasWhatTheDecisionWasTakenOn) {
  Manifest manifest;
  manifest.mtbf = 3600;
  const auto rows = recorded(manifest, [&](Checkpointer& checkpointer) {
    end(checkpointer, "train", 1000, checkpointer.mark_start());
  });
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["decision"], "materialize");
  EXPECT_EQ(rows[0]["bytes"], 1000);
  EXPECT_EQ(rows[0]["copied"], 1000);
  EXPECT_DOUBLE_EQ(rows[0]["g"], 0.0667);
  EXPECT_NEAR(rows[0]["run"], 66.7, 1e-6);
  EXPECT_NEAR(rows[0]["window"], 20 * 66.7, 1e-6);
  EXPECT_GT(rows[0]["M"].get<double>(), 0) << "estimated before it is paid";
  EXPECT_GT(rows[0]["interval"].get<double>(), 0);
  EXPECT_EQ(rows[0]["since"], 1000);
}

// Fresh memory may cost ten times what the copy into it does: training waits for it as long as epsilon has
// time to spare, and goes on without a checkpoint else.
TEST_F(CheckpointerTest, TheFirstCheckpointIsNotTakenIntoMemoryThatIsNotThere) {
  state.resize(std::size_t{64} << 20, 1);
  CostModel model;
  model.prior(copy_seconds_per_byte());
  const Manifest manifest;
  const double just_enough = model.expected(state.size()) / manifest.epsilon * 1.0001;
  const auto rows = recorded(manifest, [&](Checkpointer& checkpointer) {
    end(checkpointer, "train", just_enough, checkpointer.mark_start());
    end(checkpointer, "train", 1e5, checkpointer.mark_start());
  });
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["decision"], "skip");
  EXPECT_EQ(rows[0]["why"], "memory for its copy is being made ready");
  EXPECT_EQ(rows[1]["decision"], "materialize");
}

// An iteration often ends right after the block in it, while the checkpoint of that block is being written.
TEST_F(CheckpointerTest, ABlockAndItsIterationBothHaveACheckpointWhereTheWriteIsShort) {
  state.resize(std::size_t{4} << 20, 1);
  const auto rows = recorded({}, [&](Checkpointer& checkpointer) {
    end(checkpointer, "@iteration", 0, checkpointer.mark_start(), "the loop's entry");
    for (int i = 0; i < 12; ++i) {
      const auto iteration = checkpointer.mark_start();
      end(checkpointer, "train", 1000, checkpointer.mark_start());
      end(checkpointer, "@iteration", 1000, iteration);
    }
  });
  ASSERT_EQ(rows.size(), 25U);
  for (const auto& row : rows) EXPECT_EQ(row["decision"], "materialize") << row;
}

// Behind a fork the kernel copies it.
TEST_F(CheckpointerTest, StateThatNoMemoryIsLeftForIsNotCopied) {
  for (const auto& [materializer, on_device] :
       {std::pair{"thread", true}, {"thread", false}, {"fork", false}}) {
    Manifest manifest;
    manifest.materializer = materializer;
    Buffer huge = live().front();
    huge.device = on_device;
    huge.data = nullptr;
    huge.bytes = std::size_t{1} << 50;
    huge.copy = [](void*) { ADD_FAILURE() << "it was copied"; };
    testing::internal::CaptureStderr();
    const auto rows = recorded(manifest, [&](Checkpointer& checkpointer) {
      for (const char* at : {"epoch=0", "epoch=1"}) {
        checkpointer.on_execution_end({"train", std::string(at) + "/train", "checkpoints/x", false}, 1,
                                      checkpointer.mark_start(), "asked for",
                                      [&] { return std::vector{huge}; });
      }
    });
    const std::string said = testing::internal::GetCapturedStderr();
    const std::string what = on_device ? "a copy of the state on the GPU takes" : "a copy of the state takes";
    EXPECT_NE(said.find("no checkpoint is taken: " + what), std::string::npos) << said;
    EXPECT_EQ(said.find("no checkpoint"), said.rfind("no checkpoint")) << said;
    ASSERT_GE(rows.size(), 2U);
    EXPECT_EQ(rows.back()["decision"], "skip");
  }
}

// They were started together, and each would take a third of what all see to be free.
TEST_F(CheckpointerTest, ALargeStateIsNotCopiedWhileAnotherRecordingCopiesOne) {
  int ready[2] = {-1, -1};
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t other = ::fork();
  if (other == 0) {
    auto turn = take_copy_turn();
    while (!turn) turn = take_copy_turn();
    (void)!::write(ready[1], "x", 1);
    while (true) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  Buffer large = live().front();
  large.data = nullptr;
  large.bytes = MemoryWatch::here().available() / 4;
  large.copy = [](void*) { ADD_FAILURE() << "it was copied"; };
  const auto rows = recorded({}, [&](Checkpointer& checkpointer) {
    checkpointer.on_execution_end({"train", "epoch=0/train", "checkpoints/x", false}, 1,
                                  checkpointer.mark_start(), "asked for", [&] { return std::vector{large}; });
    end(checkpointer, "small", 1, checkpointer.mark_start(), "asked for");
  });
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  for (const int end : ready) ::close(end);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["decision"], "skip");
  EXPECT_EQ(rows[0]["why"], "other recordings on this node are copying their state, and memory is short");
  EXPECT_EQ(rows[1]["decision"], "materialize") << "so little fits beside any copy";
}

// To find that out took time, as of a state that is written down on the thread that trains.
TEST_F(CheckpointerTest, ALookThatFoundNoMemoryIsPaidForAsAnyOther) {
  int looks = 0;
  testing::internal::CaptureStderr();
  const auto rows = recorded({}, [&](Checkpointer& checkpointer) {
    for (int i = 0; i < 40; ++i) {
      const std::string at = "epoch=" + std::to_string(i);
      checkpointer.on_execution_end(
          {"train", at + "/train", RunDir::checkpoint_file("train", at).string(), false}, 0.01,
          checkpointer.mark_start(), nullptr, [&]() -> std::vector<Buffer> {
            ++looks;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            throw NoRoom("there is no memory for the state");
          });
    }
  });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_LT(looks, 10) << "of 40 executions";
  for (const auto& row : rows) EXPECT_NE(row["decision"], "materialize");
  EXPECT_LE(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

TEST_F(CheckpointerTest, WhatALoopsEntryCostsIsPaidBackFirst) {
  state.resize(50000000);
  const auto rows = recorded({}, [&](Checkpointer& checkpointer) {
    end(checkpointer, "@iteration", 0, {}, "the loop's entry");
    end(checkpointer, "@iteration", 1e-6, checkpointer.mark_start());
  });
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["decision"], "materialize");
  EXPECT_EQ(rows[0]["n"], 0);
  EXPECT_LT(rows[1]["run"].get<double>(), 0);
  EXPECT_EQ(rows[1]["decision"], "skip");
  EXPECT_EQ(rows[1]["why"], "earlier checkpoints are not yet paid back");
}

// A program that is through waits for the write of its last checkpoint; the run pays for that, not the kind.
TEST_F(CheckpointerTest, TheLastCheckpointIsTakenWhereTheRunCanWaitForIt) {
  state.resize(std::size_t{8} << 20, 1);
  const auto rows = recorded({}, [&](Checkpointer& checkpointer) {
    for (const bool final : {false, false, true}) {
      end(checkpointer, "train", 1000, checkpointer.mark_start(), nullptr, final);
      checkpointer.drain();
    }
    checkpointer.charge(0.0667 * 4000, false);
    end(checkpointer, "train", 1000, checkpointer.mark_start(), nullptr, true);
  });
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[2]["decision"], "materialize");
  EXPECT_EQ(rows[3]["decision"], "skip");
}

TEST_F(CheckpointerTest, CheckpointsOfIterationsAreApartAndThoseOfBlocksNeedNotBe) {
  Manifest manifest;
  manifest.epsilon = 1000;  // a slow disk's write is not too dear either
  for (const std::string block : {"@iteration", "train"}) {
    double last = 0;
    int taken = 0;
    const auto rows = recorded(manifest, [&](Checkpointer& checkpointer) {
      for (int i = 0; i < 200; ++i) {
        end(checkpointer, block, 1, checkpointer.mark_start());
        checkpointer.drain();
      }
    });
    for (const auto& row : rows) {
      if (row["block"] != block || row["decision"] != "materialize") continue;
      const double at = row["n"];
      EXPECT_TRUE(block == "train" || !is_crowded(at - last, at)) << at;
      last = at;
      ++taken;
    }
    EXPECT_EQ(taken, block == "train" ? 200 : 60);
    fs::remove(run.timeline());
  }
}

TEST_F(CheckpointerTest, AStateThatDoesNotShrinkIsMeasuredMoreAndMoreSeldom) {
  Manifest manifest;
  manifest.every = 1000000;  // no checkpoint resets that
  recorded(manifest, [&](Checkpointer& checkpointer) {
    for (int i = 0; i < 1000; ++i) end(checkpointer, "train", 1, checkpointer.mark_start());
  });
  EXPECT_EQ(saved, 7) << "behind 0, 8, 24, 56, 120, 248 and 504";
}

// A look of the front end's at all objects: it was measured as training, and is none.
TEST_F(CheckpointerTest, WhatTheFrontEndTakesWithinAnExecutionIsACost) {
  double overhead = 0;
  recorded({}, [&](Checkpointer& checkpointer) {
    checkpointer.charge(200, true);
    end(checkpointer, "train", 1000, checkpointer.mark_start());
    checkpointer.drain();
    overhead = checkpointer.overhead();
  });
  EXPECT_NEAR(overhead, 200.0 / 800, 0.01);
}

// The iteration ends just behind the block that is its all, while that one's checkpoint is being written.
TEST_F(CheckpointerTest, AnIterationThatFindsTheWriterBusyGoesFirstNowAndThen) {
  state.resize(std::size_t{64} << 20, 1);
  const auto rows = recorded({}, [&](Checkpointer& checkpointer) {
    end(checkpointer, "@iteration", 0, {}, "the loop's entry");
    for (int epoch = 0; epoch < 13; ++epoch) {
      checkpointer.drain();
      const auto begun = checkpointer.mark_start();
      end(checkpointer, "train", 10000, checkpointer.mark_start());
      end(checkpointer, "@iteration", 10000, begun);
    }
  });
  std::map<std::string, int> taken;
  for (const auto& row : rows)
    if (row["decision"] == "materialize") taken[row["block"]] += 1;
  EXPECT_GE(taken["@iteration"], 1 + 3);
  EXPECT_GE(taken["train"], 7);
}

// The writer waits for the log, and the log for a value that does not come: as if the store hung.
TEST_F(CheckpointerTest, WhatIsTakenWhateverItCostsDoesNotWaitForEverForAWriterThatHangs) {
  Manifest manifest;
  manifest.every = 1;
  std::vector<Json> decisions;
  Journal journal({run.log(), run.timeline(), run.generators()}, [](Journal::Failure, const std::string&) {});
  {
    Checkpointer checkpointer(
        run, manifest, journal, [](const std::string& what) { ADD_FAILURE() << what; }, 0.05);
    std::promise<LateValue> value;
    journal.append(log_file, {"{\"loss\":", value.get_future().share(), "}"});
    end(checkpointer, "@iteration", 0, {}, "the loop's entry");
    end(checkpointer, "@iteration", 0, {}, "the next loop's entry");
    for (int i = 0; i < 3; ++i) end(checkpointer, "train", 1, {});
    EXPECT_TRUE(checkpointer.mark_start().overlapped);
    value.set_value({"1", ""});
    checkpointer.drain();
    end(checkpointer, "train", 1, {});
    checkpointer.drain();
    EXPECT_EQ(checkpointer.durable(), 2);
  }
  ASSERT_TRUE(journal.sync());
  for (const auto& row : read_json_lines(run.timeline()).rows)
    if (row["kind"] == "block") decisions.push_back(row["decision"]);
  EXPECT_EQ(decisions, (std::vector<Json>{"materialize", "skip", "skip", "skip", "skip", "materialize"}));
}

TEST_F(CheckpointerTest, AStoreThatRecoversGetsCheckpointsAgain) {
  Manifest manifest;
  manifest.every = 1;
  Journal journal({run.log(), run.timeline(), run.generators()}, [](Journal::Failure, const std::string&) {});
  std::vector<std::string> damages;
  const fs::path checkpoints = run.path / "checkpoints";
  std::ofstream(checkpoints) << "not a directory";
  Checkpointer checkpointer(run, manifest, journal,
                            [&](const std::string& what) { damages.push_back(what); });
  const auto one = [&](const char* forced) {
    end(checkpointer, "train", 1, checkpointer.mark_start(), forced);
    checkpointer.drain();
    return checkpointer.durable();
  };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(one(nullptr), 0);
  EXPECT_EQ(damages.size(), 3u) << "a pause begins behind the third failure";
  EXPECT_NE(checkpointer.why_newest_missing(), "");
  EXPECT_EQ(one("asked for"), 0);
  EXPECT_EQ(damages.size(), 4u) << "what is asked for is tried in a pause, too";
  EXPECT_NE(checkpointer.why_newest_missing().find("checkpoints"), std::string::npos);
  fs::remove(checkpoints);
  EXPECT_EQ(one("asked for"), 1);
  EXPECT_EQ(checkpointer.why_newest_missing(), "");
  EXPECT_EQ(one(nullptr), 2) << "a success ends the pause";
}

TEST(WritePauses, GrowUntilAWriteSucceeds) {
  WritePauses pauses;
  EXPECT_FALSE(pauses.failed(0));
  EXPECT_FALSE(pauses.failed(0));
  EXPECT_FALSE(pauses.pauses(0));
  EXPECT_TRUE(pauses.failed(0));
  EXPECT_TRUE(pauses.pauses(59));
  EXPECT_FALSE(pauses.pauses(60));
  EXPECT_TRUE(pauses.failed(60));
  EXPECT_TRUE(pauses.pauses(179));
  EXPECT_FALSE(pauses.pauses(180));
  for (int i = 0; i < 20; ++i) pauses.failed(180);
  EXPECT_FALSE(pauses.pauses(180 + 32 * 60)) << "no pause is longer";
  EXPECT_TRUE(pauses.succeeded());
  EXPECT_FALSE(pauses.pauses(180));
  EXPECT_FALSE(pauses.failed(180));
  EXPECT_FALSE(pauses.succeeded()) << "a single failure makes no pause";
}

TEST_F(CheckpointerTest, RecoveryWantsIterationCheckpointsWhereThereAreSome) {
  Manifest manifest;
  manifest.mtbf = 3600;
  const auto rows = recorded(manifest, [&](Checkpointer& checkpointer) {
    end(checkpointer, "@iteration", 0, {}, "the loop's entry");
    end(checkpointer, "train", 1000, checkpointer.mark_start());
  });
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[0]["interval"].is_number());
  EXPECT_TRUE(rows[1]["interval"].is_null());
}

}  // namespace
}  // namespace flor::core
