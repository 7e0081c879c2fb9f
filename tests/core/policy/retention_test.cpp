#include "core/policy/retention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/checkpoint/reader.h"
#include "core/checkpoint/record_index.h"
#include "core/files/json_lines.h"
#include "core/recording/checkpointer.h"
#include "core/store/timeline.h"
#include "materialize/recording.h"

namespace flor::core {
namespace {

using Files = std::vector<std::string>;

// "train/3>1,2": the file train/3 of kind `train`, which refers to train/1 and train/2; behind a `~` retired,
// behind a `+` only on the node.
StoredCheckpoint stored(std::string text) {
  StoredCheckpoint out;
  out.retired = text[0] == '~';
  out.on_node = text[0] == '+';
  if (out.retired || out.on_node) text.erase(0, 1);
  const auto arrow = text.find('>');
  out.file = text.substr(0, arrow);
  out.kind = out.file.substr(0, out.file.find('/'));
  const std::string value = out.file.substr(out.kind.size() + 1);
  out.at = "epoch=" + value + "/" + (out.kind == "@iteration" ? out.kind : out.kind + "#0");
  if (arrow == std::string::npos) return out;
  std::string list = text.substr(arrow + 1) + ",";
  for (std::size_t comma = 0; (comma = list.find(',')) != std::string::npos; list.erase(0, comma + 1)) {
    out.refers_to.push_back(out.kind + "/" + list.substr(0, comma));
  }
  return out;
}

TEST(Removable, KeepsTheNewestOfEachKindAndWhatTheyReferTo) {
  struct {
    const char* what;
    Files stored;
    int64_t keep;
    Files files, retired, orphans;
  } table[] = {
      {"nothing is stored", {}, 2, {}, {}, {}},
      {"all are kept", {"t/0", "t/1", "t/2"}, 0, {}, {}, {}},
      {"as many as there are", {"t/0", "t/1"}, 2, {}, {}, {}},
      {"the oldest goes", {"t/0", "t/1", "t/2"}, 2, {"t/0"}, {}, {}},
      {"each kind counts alone", {"a/0", "b/0", "a/1", "b/1", "a/2"}, 1, {"a/0", "b/0", "a/1"}, {}, {}},
      {"the loop's entry stays and is not counted",
       {"@iteration/entry", "@iteration/0", "@iteration/1", "@iteration/2"},
       2,
       {"@iteration/0"},
       {},
       {}},
      {"one that is only on the node stays and is not counted", {"t/0", "t/1", "+t/2"}, 1, {"t/0"}, {}, {}},
      {"nor does it drive out the last one in the store", {"t/0", "+t/1", "+t/2"}, 1, {}, {}, {}},
      {"a block that is called entry is none", {"t/entry", "t/0", "t/1"}, 2, {"t/entry"}, {}, {}},
      {"what a kept one refers to stays", {"t/0", "t/1>0", "t/2>0"}, 1, {"t/1"}, {}, {}},
      {"what only a removed one refers to goes", {"t/0", "t/1>0", "t/2"}, 1, {"t/0", "t/1"}, {}, {}},
      {"one that stays for others, and is no longer whole, is retired",
       {"t/0", "t/1>0", "t/2>1"},
       1,
       {"t/0"},
       {"t/1"},
       {}},
      {"one that stays for others and is whole is none the worse",
       {"t/0", "t/1>0", "t/2>0,1"},
       1,
       {},
       {},
       {}},
      {"a retired one is not retired again", {"~t/1>0", "t/2>1"}, 1, {}, {}, {}},
      {"a retired one goes with the last that refers to it",
       {"~t/1>0", "t/2>1", "t/3"},
       1,
       {"t/2"},
       {},
       {"t/1"}},
      {"a retired one does not count", {"t/0", "~t/1", "t/2>1"}, 2, {}, {}, {}},
  };
  for (const auto& row : table) {
    std::vector<StoredCheckpoint> all;
    for (const auto& text : row.stored) all.push_back(stored(text));
    const Thinning removal = removable(all, row.keep);
    EXPECT_EQ(removal.files, row.files) << row.what;
    EXPECT_EQ(removal.retired, row.retired) << row.what;
    EXPECT_EQ(removal.orphans, row.orphans) << row.what;
  }
}

// What a Retention did, in order.
struct World {
  Files done;
  std::string unforgettable;
  bool full = false;
  std::set<std::string> spooled;

  Retention::Actions actions() {
    return {[this](const std::string& file) {
              done.push_back("forget " + file);
              return file != unforgettable;
            },
            [this](const Files& rows) {
              for (const auto& row : rows)
                done.push_back("note " + field<std::string>(Json::parse(row), "file", ""));
              return !full;
            },
            [this](const std::string& file) { done.push_back("remove " + file); },
            [this](const std::string& file) { return spooled.count(file) > 0; }};
  }
};

// A resumed program comes to earlier places once more; files that no row names are found by name.
TEST(Removable, TheNewestAreThoseOfTheLastPlaces) {
  const auto files = [](const Files& list, int64_t keep) {
    std::vector<StoredCheckpoint> all;
    for (const auto& text : list) all.push_back(stored(text));
    return removable(all, keep).files;
  };
  EXPECT_EQ(files({"train/7", "train/8", "train/0"}, 1), (Files{"train/7", "train/0"}));
  EXPECT_EQ(files({"train/10", "train/11", "train/8", "train/9"}, 2), (Files{"train/8", "train/9"}));
  auto first = stored("train/8");
  auto again = stored("train/8@1");
  again.at = first.at;
  EXPECT_EQ(removable({first, again}, 1).files, Files{"train/8"});
  auto later = stored("train/f");
  later.at = "finetune=0/train#0";
  EXPECT_EQ(removable({stored("train/8"), later}, 1).files, Files{"train/8"})
      << "another loop, behind the first";
  EXPECT_EQ(removable({later, stored("train/0")}, 1, {"epoch", "finetune"}).files, Files{"train/0"})
      << "the first loop, come to again";
}

TEST(RetentionTest, NotesBeforeItRemoves) {
  World world;
  Retention retention(1, world.actions());
  retention.durable(stored("t/0"));
  EXPECT_TRUE(world.done.empty());
  retention.durable(stored("t/1"));
  EXPECT_EQ(world.done, (Files{"forget t/0", "note t/0", "remove t/0"}));
}

TEST(RetentionTest, RemovesNothingThatTheTimelineStillNames) {
  World world;
  world.full = true;
  Retention retention(1, world.actions());
  retention.durable(stored("t/0"));
  retention.durable(stored("t/1"));
  EXPECT_EQ(world.done, (Files{"forget t/0", "note t/0"}));
  world.full = false;
  world.done.clear();
  retention.durable(stored("t/2"));
  EXPECT_EQ(world.done,
            (Files{"forget t/0", "forget t/1", "note t/0", "note t/1", "remove t/0", "remove t/1"}));
}

// A node that dies takes its local tier with it.
TEST(RetentionTest, RemovesNothingFromTheStoreForWhatIsNotThereYet) {
  World world;
  Retention retention(1, world.actions());
  retention.durable(stored("t/0"));
  retention.durable(stored("+t/1"));
  retention.durable(stored("+t/2"));
  EXPECT_TRUE(world.done.empty());
  world.spooled.insert("t/1");
  retention.durable(stored("+t/3"));
  EXPECT_EQ(world.done, (Files{"forget t/0", "note t/0", "remove t/0"}));
  // One in the store whose tensors are partly on the node counts as little.
  world.done.clear();
  world.spooled.insert("t/4");
  retention.durable(stored("+t/4>3"));
  EXPECT_TRUE(world.done.empty());
}

TEST(RetentionTest, LeavesWhatACheckpointThatIsBeingWrittenMayReferTo) {
  World world;
  world.unforgettable = "t/0";
  Retention retention(1, world.actions());
  retention.durable(stored("t/0"));
  retention.durable(stored("t/1"));
  EXPECT_EQ(world.done, (Files{"forget t/0"}));
  retention.durable(stored("t/2>0"));
  EXPECT_EQ(world.done, (Files{"forget t/0", "forget t/1", "note t/1", "remove t/1"}));
}

TEST(RetentionTest, ARetiredFileGoesWithTheLastThatRefersToIt) {
  World world;
  Retention retention(1, world.actions());
  for (const char* text : {"t/0", "t/1>0"}) retention.durable(stored(text));
  EXPECT_TRUE(world.done.empty());
  retention.durable(stored("t/2>1"));
  EXPECT_EQ(world.done, (Files{"forget t/0", "note t/0", "note t/1", "remove t/0"}));
  world.done.clear();
  retention.durable(stored("t/3"));
  EXPECT_EQ(world.done, (Files{"forget t/2", "forget t/1", "note t/2", "remove t/2", "remove t/1"}));
}

// Else the only good ones might go for those that replay never uses.
TEST(RetentionTest, ADoubtedCheckpointTakesNoPlace) {
  World world;
  Retention retention(2, world.actions());
  for (const char* text : {"t/0", "t/1"}) retention.durable(stored(text));
  retention.doubt({"t/1", "t/2"});  // t/2 is still being written
  retention.durable(stored("t/2"));
  EXPECT_EQ(world.done, (Files{"forget t/1", "forget t/2", "remove t/1", "remove t/2"}));
  world.done.clear();
  retention.durable(stored("t/3"));
  EXPECT_TRUE(world.done.empty()) << "t/0 and t/3 are the two that count";
}

TEST(Timeline, OfOnePlaceTheLastCheckpointCounts) {
  const test::TemporaryDirectory directory;
  LineAppender out(directory / "timeline.jsonl");
  for (const char* file : {"train/0", "train/1", "train/0@1"}) {
    const std::string at = std::string("epoch=") + file[6] + "/train#0";
    out.append(Json({{"kind", "checkpoint"}, {"at", at}, {"block", "train"}, {"file", file}}).dump() + "\n");
  }
  const auto rows = read_timeline(directory / "timeline.jsonl");
  Files kept;
  for (const auto* row : kept_checkpoints(rows)) kept.push_back(field<std::string>(*row, "file", ""));
  EXPECT_EQ(kept, (Files{"train/1", "train/0@1"}));
}

TEST(Timeline, KeepsWhatWasWrittenAgainAndDropsWhatWasFoundWrong) {
  const auto checkpoint = [](const std::string& file) {
    return Json{{"kind", "checkpoint"}, {"at", file}, {"file", file}};
  };
  const Timeline rows{checkpoint("a"),
                      checkpoint("b"),
                      removed_row("a", "a", false),
                      removed_row("b", "b", true),
                      checkpoint("a"),
                      checkpoint("c"),
                      Json{{"kind", "doubt"}, {"tensor", "0"}, {"files", {"c", "d"}}},
                      checkpoint("d")};  // it was being written when it was found wrong
  const auto kept = kept_checkpoints(rows);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(field<std::string>(*kept[0], "file", ""), "a");
  EXPECT_EQ(removed_checkpoints(rows), (std::set<std::string>{"b"}));
  EXPECT_EQ(doubted_checkpoints(rows), (std::set<std::string>{"c", "d"}));
}

// A recording with --flor-keep, without its program: the real files.
class Recording : public testing::Test {
 protected:
  void begin(int64_t keep) {
    manifest_.id = "run";
    manifest_.status = "completed";
    manifest_.every = 1;
    manifest_.keep = keep;
    RecordedLoop loop;
    loop.name = "epoch";
    manifest_.loops.push_back(loop);
    write_manifest(run_, manifest_);
    const auto fail = [](const std::string& what) { ADD_FAILURE() << what; };
    journal_ =
        std::make_unique<Journal>(std::vector<fs::path>{run_.log(), run_.timeline(), run_.generators()},
                                  [](Journal::Failure, const std::string& what) { ADD_FAILURE() << what; });
    checkpointer_ = std::make_unique<Checkpointer>(run_, manifest_, *journal_, fail);
  }

  void epoch(int64_t value, const std::vector<const test::Tensor*>& tensors) {
    const std::string at = "epoch=" + std::to_string(value);
    const auto save = [&tensors] {
      std::vector<Buffer> buffers;
      for (const auto* tensor : tensors) buffers.push_back(tensor->buffer(std::to_string(buffers.size())));
      return buffers;
    };
    checkpointer_->on_execution_end({"train", at + "/train#0", file_of(value)}, 1,
                                    checkpointer_->mark_start(), nullptr, save);
    checkpointer_->drain();
  }

  void end() {
    checkpointer_.reset();
    journal_.reset();
  }

  static std::string file_of(int64_t value) {
    return RunDir::checkpoint_file("train", "epoch=" + std::to_string(value)).string();
  }
  Files present() const {
    Files out;
    for (const auto& entry : fs::directory_iterator(run_.checkpoints() / "train"))
      out.push_back(entry.path().stem());
    std::sort(out.begin(), out.end());
    return out;
  }

  test::TemporaryDirectory directory_;
  RunDir run_{directory_.path()};
  Manifest manifest_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Checkpointer> checkpointer_;
  test::Tensor frozen_{1000};
  test::Tensor head_{1000};
  test::Tensor other_{1000};
};

TEST_F(Recording, KeepsTheNewestAndTheHolderOfWhatNeverChanges) {
  begin(2);
  for (int64_t i = 0; i < 6; ++i) {
    head_.write(static_cast<float>(i));
    epoch(i, {&frozen_, &head_});
  }
  end();
  EXPECT_EQ(present(), (Files{"epoch=0", "epoch=4", "epoch=5"}));
  for (const int64_t i : {0, 4, 5}) EXPECT_EQ(Checkpoint::verify(run_, file_of(i)), Files{}) << i;
  EXPECT_EQ(referred_files(Checkpoint::header_of(run_, file_of(5)), file_of(5)), Files{file_of(0)});

  const RecordIndex index(run_);
  for (int64_t i = 0; i < 6; ++i) {
    const auto* entry = index.checkpoint("epoch=" + std::to_string(i) + "/train#0");
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->removed, i >= 1 && i <= 3) << i;
    EXPECT_EQ(entry->state.size(), 32U);  // still compared when replay executes past it
  }
}

TEST_F(Recording, KeepsAllByDefault) {
  begin(0);
  for (int64_t i = 0; i < 3; ++i) {
    head_.write(static_cast<float>(i));
    epoch(i, {&head_});
  }
  end();
  EXPECT_EQ(present(), (Files{"epoch=0", "epoch=1", "epoch=2"}));
}

// A tensor that did not change since a file was written that is no longer there is written anew.
TEST_F(Recording, RefersToNoFileThatWasRemoved) {
  begin(1);
  epoch(0, {&frozen_});
  epoch(1, {&head_});
  EXPECT_EQ(present(), Files{"epoch=1"});
  epoch(2, {&frozen_});
  end();
  EXPECT_EQ(present(), Files{"epoch=2"});
  EXPECT_EQ(Checkpoint::verify(run_, file_of(2)), Files{});
}

// The file of epoch 1 holds what epoch 2 refers to, and itself refers to that of epoch 0, which goes.
TEST_F(Recording, AFileThatIsOnlyHeldIsNoCheckpoint) {
  begin(1);
  epoch(0, {&frozen_});
  epoch(1, {&frozen_, &head_});
  epoch(2, {&head_, &other_});
  end();
  EXPECT_EQ(present(), (Files{"epoch=1", "epoch=2"}));
  EXPECT_EQ(Checkpoint::verify(run_, file_of(2)), Files{});
  const RecordIndex index(run_);
  EXPECT_TRUE(index.checkpoint("epoch=1/train#0")->removed);
  const auto timeline = read_timeline(run_.timeline());
  EXPECT_EQ(kept_checkpoints(timeline).size(), 1U);
}

TEST_F(Recording, RemovesFromTheLocalTierToo) {
  manifest_.local = directory_ / "local";
  fs::create_directories(directory_ / "local");
  std::ofstream(directory_ / "local/spool.json") << "{}";
  begin(1);
  const auto spool = [this] {
    const auto options = fs::copy_options::recursive | fs::copy_options::overwrite_existing;
    fs::copy(directory_ / "local/checkpoints", run_.checkpoints(), options);
  };
  for (int64_t i = 0; i < 4; ++i) {
    epoch(i, {&head_});
    if (i < 3) spool();
  }
  end();
  Files local;
  for (const auto& entry : fs::directory_iterator(directory_ / "local/checkpoints/train"))
    local.push_back(entry.path().stem());
  std::sort(local.begin(), local.end());
  // That of epoch 0 holds the tensor; that of epoch 3 is not in the store yet, and drives out no other.
  EXPECT_EQ(local, (Files{"epoch=0", "epoch=2", "epoch=3"}));
}

}  // namespace
}  // namespace flor::core
