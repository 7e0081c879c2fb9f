#include "core/files/durable.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/error.h"
#include "core/files/file_lock.h"
#include "core/files/json_lines.h"
#include "support/interposed.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;

std::size_t entries(const fs::path& directory) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

TEST(Durable, FileAppearsWholeOrNotAtAll) {
  const TemporaryDirectory directory;
  {
    DurableFile file(directory / "a");
    file.write("half", 4);
    EXPECT_FALSE(fs::exists(directory / "a"));
  }
  EXPECT_EQ(entries(directory.path()), 0U);  // nothing is left of what was not committed
  write_durably(directory / "a", "one");
  write_durably(directory / "a", "two");
  EXPECT_EQ(read_file(directory / "a"), "two");
  EXPECT_EQ(entries(directory.path()), 1U);
}

TEST(Durable, ALinkOfItsOwnIsNoOtherWritersThoughTheServerSaysThatItExists) {
  const TemporaryDirectory directory;
  write_durably(directory / "taken", "other");
  const test::Interposing calls;
  calls->link_says_exists = true;
  EXPECT_EQ(publish_once(directory / "a", "one"), Published::first);
  EXPECT_EQ(read_file(directory / "a"), "one");
  EXPECT_EQ(publish_once(directory / "taken", "one"), Published::different);
  EXPECT_EQ(publish_once(directory / "taken", "other"), Published::same);
  EXPECT_EQ(entries(directory.path()), 2U);
}

TEST(Durable, ARenameThatIsDoneIsNoFailureThoughTheServerSaysThatTheFileIsMissing) {
  const TemporaryDirectory directory;
  const test::Interposing calls;
  calls->rename_says_missing = true;
  write_durably(directory / "a", "one");
  write_durably(directory / "a", "two");
  EXPECT_EQ(read_file(directory / "a"), "two");
  EXPECT_EQ(entries(directory.path()), 1U);
  const FileLock held = FileLock::take(directory / "b");
  {
    const FileLock lock = FileLock::replace(directory / "b");
    EXPECT_TRUE(is_locked(directory / "b"));
  }
  EXPECT_FALSE(is_locked(directory / "b"));
  EXPECT_EQ(entries(directory.path()), 2U);
  fs::remove(directory / "b");
  DurableFile lost(directory / "a");
  fs::remove(lost.temporary());
  EXPECT_THROW(lost.commit(), std::system_error);
  EXPECT_EQ(read_file(directory / "a"), "two");
}

TEST(Durable, ASignalInBetweenIsNoFailure) {
  const TemporaryDirectory directory;
  const test::Interposing calls;
  for (const char* call : {"open", "openat", "fsync", "close", "fdatasync"}) {
    calls->interrupted = {call};
    EXPECT_NO_THROW(write_durably(directory / "a", call)) << call;
    EXPECT_EQ(read_file(directory / "a"), call);
    LineAppender(directory / "b").sync();
    EXPECT_TRUE(calls->interrupted.empty()) << call;
  }
  calls->interrupted = {"open"};
  EXPECT_NO_THROW(FileLock::create(directory / "c"));
}

TEST(Durable, WhatAKilledWriterLeftIsFoundByItsTarget) {
  const TemporaryDirectory directory;
  const fs::path target = directory / "worker.tmp.json";
  const fs::path left = temporary_sibling(target);
  write_durably(left, "half");
  write_durably(target, "whole");
  write_durably(directory / ".hidden", "");
  EXPECT_EQ(temporaries_in(directory.path()), std::vector<fs::path>{left});
  EXPECT_EQ(target_of(left), target);
  EXPECT_TRUE(temporaries_in(directory / "missing").empty());
}

// Semantics 22: the first publication stays.
TEST(Durable, PublicationNeverReplaces) {
  const TemporaryDirectory directory;
  EXPECT_EQ(publish_once(directory / "unit", "rows"), Published::first);
  EXPECT_EQ(publish_once(directory / "unit", "rows"), Published::same);
  EXPECT_EQ(publish_once(directory / "unit", "other"), Published::different);
  EXPECT_EQ(read_file(directory / "unit"), "rows");
  EXPECT_EQ(entries(directory.path()), 1U);
}

// Whoever collects a finished replay removes what workers were writing.
TEST(Durable, PublicationOfWhatIsThereNeedsNoTemporaryFile) {
  const TemporaryDirectory directory;
  for (const char* first : {"", "rows"}) {
    if (*first != 0) write_durably(directory / "unit", first);
    DurableFile file(directory / "unit");
    std::filesystem::remove(file.temporary());
    if (*first != 0) {
      EXPECT_FALSE(file.commit_if_absent());
    } else {
      EXPECT_THROW(file.commit_if_absent(), std::system_error);
    }
  }
}

TEST(Durable, ErrorsNameThePath) {
  try {
    write_durably("/nonexistent-flor/file", "x");
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent-flor"), std::string::npos);
  }
}

TEST(JsonLines, TornLastLineIsDroppedAndSaid) {
  const auto whole = parse_json_lines("{\"a\":1}\n{\"a\":2}\n", "f");
  EXPECT_EQ(whole.rows.size(), 2U);
  EXPECT_FALSE(whole.torn);
  const auto torn = parse_json_lines("{\"a\":1}\n{\"a\":", "f");
  EXPECT_EQ(torn.rows.size(), 1U);
  EXPECT_TRUE(torn.torn);
  EXPECT_TRUE(parse_json_lines("{\"a\":1}\n{\"a\":2}", "f").torn);  // without its newline it may be cut
}

TEST(JsonLines, DamageBeforeTheLastLineIsAnErrorThatNamesTheLine) {
  try {
    parse_json_lines("{\"a\":1}\n{\"a:2}\n{\"a\":3}\n", "log.jsonl");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("log.jsonl:2"), std::string::npos);
  }
}

TEST(JsonLines, AppenderEndsATornLineFirst) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "log") << "{\"a\":1}\n{\"a\":";
  LineAppender(directory / "log").append("{\"a\":3}\n");
  const auto lines = read_json_lines(directory / "log");
  EXPECT_TRUE(lines.torn);
  ASSERT_EQ(lines.rows.size(), 2U);
  EXPECT_EQ(lines.rows[1]["a"], 3);
}

}  // namespace
}  // namespace flor::core
