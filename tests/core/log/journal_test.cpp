#include "core/log/journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <future>
#include <new>
#include <utility>

#include "core/files/durable.h"
#include "core/files/json_lines.h"
#include "core/log/durable_tail.h"
#include "support/interposed.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

using test::TemporaryDirectory;
using Failure = Journal::Failure;

// No file of this process can grow: every write fails as on a full disk.
class NoRoom {
 public:
  NoRoom() : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit none = {0, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  NoRoom(const NoRoom&) = delete;
  NoRoom& operator=(const NoRoom&) = delete;
  ~NoRoom() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_ = {};
};

TEST(Journal, LinesAreThereAfterSync) {
  const TemporaryDirectory directory;
  Journal journal({directory / "a", directory / "b"}, [](Failure, const std::string&) { FAIL(); });
  for (int i = 0; i < 1000; ++i)
    journal.append(static_cast<std::size_t>(i % 2), "{\"i\":" + std::to_string(i) + "}");
  EXPECT_TRUE(journal.sync());
  EXPECT_EQ(read_json_lines(directory / "a").rows.size(), 500U);
  EXPECT_EQ(read_json_lines(directory / "b").rows.back()["i"], 999);
}

TEST(Journal, AFullDiskIsReportedOnce) {
  const TemporaryDirectory directory;
  const std::string file = directory.path() / "journal";
  const NoRoom no_room;
  int reports = 0;
  {
    Journal journal({file}, [&](Failure failure, const std::string& what) {
      ++reports;
      EXPECT_EQ(failure, Failure::passing) << "it is tried again";
      EXPECT_NE(what.find(file), std::string::npos);
    });
    for (int i = 0; i < 3; ++i) {
      journal.append(0, "{}");
      EXPECT_FALSE(journal.sync());
    }
  }
  EXPECT_EQ(reports, 1);
}

// As where memory is full: training goes on, and no checkpoint may claim the log.
TEST(Journal, WhatIsThrownOnItsThreadIsALoss) {
  const TemporaryDirectory directory;
  std::promise<std::string> said;
  bool throws = true;
  Journal journal(
      {directory / "a"},
      [&](Failure failure, const std::string& what) {
        EXPECT_EQ(failure, Failure::lasting);
        said.set_value(what);
      },
      [&] {
        if (std::exchange(throws, false)) throw std::bad_alloc();
        return true;
      });
  EXPECT_NE(said.get_future().get().find("may be lost"), std::string::npos);
  journal.append(0, "{}");
  EXPECT_FALSE(journal.sync());
  EXPECT_EQ(read_json_lines(directory / "a").rows.size(), 1U) << "it goes on";
}

// What a file server does that loses what it had taken: the file is as short as at the last good sync.
int lose(int file) {
  return ::ftruncate(file, 0) == 0 ? EIO : 0;
}

// The file keeps its size, but has no bytes.
int empty(int file) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  return ::ftruncate(file, 0) == 0 && ::ftruncate(file, size) == 0 ? EIO : 0;
}

TEST(Journal, AQuotaThatIsUsedUpIsToldApart) {
  const TemporaryDirectory directory;
  const test::Interposing calls;
  std::vector<Failure> reports;
  Journal journal({directory / "a"},
                  [&](Failure failure, const std::string&) { reports.push_back(failure); });
  for (int (*refuse)(int) :
       {+[](int) { return EIO; }, +[](int) { return EDQUOT; }, +[](int) { return ENOSPC; }}) {
    calls->at_fdatasync = refuse;
    journal.append(0, "{}");
    EXPECT_FALSE(journal.sync());
  }
  calls->at_fdatasync = nullptr;
  EXPECT_TRUE(journal.sync());
  EXPECT_EQ(reports, (std::vector<Failure>{Failure::passing, Failure::full}));
}

TEST(Journal, WhatAFailedSyncLostIsWrittenAgain) {
  for (const auto& fault : {lose, empty}) {
    const TemporaryDirectory directory;
    const test::Interposing calls;
    int reports = 0;
    Journal journal({directory / "a"}, [&](Failure failure, const std::string&) {
      ++reports;
      EXPECT_EQ(failure, Failure::passing);
    });
    calls->at_fdatasync = fault;
    journal.append(0, "{\"i\":0}");
    EXPECT_FALSE(journal.sync());
    calls->at_fdatasync = nullptr;
    journal.append(0, "{\"i\":1}");
    EXPECT_TRUE(journal.sync());
    journal.append(0, "{\"i\":2}");
    EXPECT_TRUE(journal.sync());
    const auto lines = read_json_lines(directory / "a");
    ASSERT_EQ(lines.rows.size(), 3U);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(lines.rows[static_cast<std::size_t>(i)]["i"], i);
    EXPECT_EQ(reports, 1);
  }
}

TEST(DurableTail, AWriteThatFailsAndIsDoneAllTheSameLeavesNothingTwice) {
  const TemporaryDirectory directory;
  const test::Interposing calls;
  DurableTail tail(directory / "a");
  std::string text = "{\"i\":0}\n";
  calls->failing_writes = 1;
  EXPECT_FALSE(tail.append(text));
  text += "{\"i\":1111}\n";
  EXPECT_TRUE(tail.append(text));
  EXPECT_TRUE(tail.sync());
  text = "{\"i\":2}\n";
  EXPECT_TRUE(tail.append(text));
  EXPECT_TRUE(tail.sync());
  EXPECT_EQ(read_file(directory / "a"), "{\"i\":0}\n{\"i\":1111}\n{\"i\":2}\n");
}

TEST(Journal, AFailedSyncLosesNothingThatWasDurable) {
  const TemporaryDirectory directory;
  const test::Interposing calls;
  Journal journal({directory / "a"}, [](Failure, const std::string&) {});
  journal.append(0, "{\"i\":0}");
  ASSERT_TRUE(journal.sync());
  calls->at_fdatasync = [](int file) { return ::ftruncate(file, 8) == 0 ? EIO : 0; };
  journal.append(0, "{\"i\":1}");
  EXPECT_FALSE(journal.sync());
  calls->at_fdatasync = nullptr;
  EXPECT_TRUE(journal.sync());
  EXPECT_EQ(read_json_lines(directory / "a").rows.size(), 2U);
}

TEST(Journal, IsNeverWholeAgainOnceALineWasDropped) {
  const TemporaryDirectory directory;
  int losses = 0;
  Journal journal({directory / "a"}, [&](Failure failure, const std::string&) {
    if (failure == Failure::lasting) ++losses;
  });
  {
    const NoRoom no_room;
    const std::string line(std::size_t{1} << 20, 'x');
    for (std::size_t i = 0; i < 3 * (Journal::max_buffered >> 20); ++i) journal.append(0, line);
    EXPECT_FALSE(journal.sync());
  }
  EXPECT_FALSE(journal.sync());
  journal.append(0, "{}");
  EXPECT_FALSE(journal.sync());
  EXPECT_EQ(losses, 1);
}

// A write that is tried again must not hide that a value is missing for ever.
TEST(Journal, AValueThatFailsIsALossThoughAWriteHasFailedBefore) {
  const TemporaryDirectory directory;
  std::atomic<int> writes{0}, values{0};
  {
    Journal journal({directory / "a"}, [&](Failure failure, const std::string&) {
      ++(failure == Failure::lasting ? values : writes);
    });
    {
      const NoRoom no_room;
      journal.append(0, "{}");
      EXPECT_FALSE(journal.sync());
    }
    std::promise<LateValue> value;
    journal.append(0, {"{\"image\":", value.get_future().share(), "}"});
    value.set_value({"null", "no memory"});
    EXPECT_TRUE(journal.sync());
  }
  EXPECT_EQ(writes, 1);
  EXPECT_EQ(values, 1);
}

TEST(Journal, LeavesAFileThatSomebodyEmptied) {
  const TemporaryDirectory directory;
  const test::Interposing calls;
  Journal journal({directory / "a"}, [](Failure, const std::string&) {});
  journal.append(0, "{\"i\":0}");
  ASSERT_TRUE(journal.sync());
  calls->at_fdatasync = lose;
  journal.append(0, "{\"i\":1}");
  EXPECT_FALSE(journal.sync());
  calls->at_fdatasync = nullptr;
  EXPECT_TRUE(journal.sync());
  journal.append(0, "{\"i\":2}");
  EXPECT_TRUE(journal.sync());
  const auto lines = read_json_lines(directory / "a");
  ASSERT_EQ(lines.rows.size(), 1U);
  EXPECT_EQ(lines.rows[0]["i"], 2);
}

}  // namespace
}  // namespace flor::core
