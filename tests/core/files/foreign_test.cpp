// How much another user's run may hold, so that whoever looks at it has the memory.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "core/files/durable.h"
#include "core/files/trusted_file.h"
#include "core/store/manifest.h"
#include "core/store/plan.h"
#include "core/store/timeline.h"
#include "support/another_user.h"
#include "support/interposed.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

using test::attacker;
using test::victim;

// Of this process, which is one of as_user(). The sanitizers reserve more for themselves.
void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit one_gib = {std::size_t{1} << 30, std::size_t{1} << 30};
  ::setrlimit(RLIMIT_AS, &one_gib);
#endif
}

std::string repeated(const std::string& text, std::size_t bytes) {
  std::string out;
  out.reserve(bytes + text.size());
  while (out.size() < bytes) out += text;
  return out;
}

class ForeignRun : public testing::Test {
 protected:
  void SetUp() override {
    FLOR_NEEDS_ROOT();
    ::chmod(directory.path().c_str(), 0755);
    test::plant_directory(run.path, attacker);
  }
  // "read", or why it is not.
  template <class Read>
  std::string reading(const Read& read, uid_t user = victim) {
    return test::as_user(user, [&]() -> std::string {
      limit_memory();
      read();
      return "read";
    });
  }
  std::string manifest_of(const std::string& text) {
    test::plant_file(run.manifest(), text, attacker);
    return reading([&] { read_manifest(run); });
  }
  std::string timeline_of(const std::string& text) {
    test::plant_file(run.timeline(), text, attacker);
    return reading([&] { read_timeline(run.timeline()); });
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  test::TemporaryDirectory directory;
  const RunDir run{directory / "r1"};
};

TEST_F(ForeignRun, AManifestIsReadUpToItsLimits) {
  EXPECT_EQ(manifest_of(R"({"format": 1, "id": "r1"})"), "read");
  EXPECT_TRUE(has(manifest_of(repeated("[", foreign_document_limit + 1)), "bytes and is not read"));
  EXPECT_TRUE(has(manifest_of(repeated("[", foreign_document_limit - 4)), "is no manifest"));
  EXPECT_TRUE(has(manifest_of(repeated(R"({"a":)", foreign_document_limit - 4)), "is no manifest"));
  std::string members = R"({"format":1)";
  for (int i = 0; i < 200'000; ++i) members += ",\"" + std::to_string(i) + "\":0";
  EXPECT_TRUE(has(manifest_of(members + "}"), "is no manifest"));
  const auto with_source = [&](const std::string& file) {
    return manifest_of(R"({"format": 1, "id": "r1", "sources": [{"file": ")" + file + R"("}]})");
  };
  EXPECT_EQ(with_source("source/a.cpp"), "read");
  EXPECT_TRUE(has(with_source("/home/victim/a.cpp"), "leaves the run's directory"));
  EXPECT_TRUE(has(with_source("source/../../x/a.cpp"), "leaves the run's directory"));
}

// Lists show who recorded a run.
TEST_F(ForeignRun, ItsUserIsItsOwnerWhateverItsManifestSays) {
  test::plant_file(run.manifest(), R"({"format": 1, "id": "r1", "user": "root"})", attacker);
  const auto user = [&] { return read_manifest(run).user; };
  EXPECT_EQ(test::as_user(victim, user), std::to_string(attacker));
  EXPECT_EQ(user(), std::to_string(attacker)) << "for root, too";
  EXPECT_EQ(test::as_user(attacker, user), "root") << "one's own is read as it stands";
}

TEST_F(ForeignRun, ATimelineIsReadUpToItsLimits) {
  EXPECT_EQ(timeline_of("{}\n"), "read");
  EXPECT_TRUE(has(timeline_of(repeated("{}\n", std::size_t{4} << 20)), "rows and is not read"));
  EXPECT_TRUE(has(timeline_of(repeated("{\"a\": 1}\n", std::size_t{10} << 20)), "rows and is not read"));
  EXPECT_EQ(timeline_of("{\"a\":" + repeated("[", 1 << 20) + "\n"), "read");
  // The JSON library alone reads these.
  EXPECT_EQ(timeline_of("{ \"a\":[" + repeated("{},", 5 << 20) + "0]}\n"), "read");
  EXPECT_TRUE(has(timeline_of("{ \"a\":[" + repeated("{},", 50 << 20) + "0]}\n{}\n"), "damaged"));
  fs::resize_file(run.timeline(), foreign_timeline_limit + 1);  // takes no space
  EXPECT_TRUE(has(reading([&] { read_timeline(run.timeline()); }), "bytes and is not read"));
}

// Its owner puts a file there after the path was looked at.
TEST_F(ForeignRun, IsJudgedByTheFileThatIsOpened) {
  const fs::path own = directory / "own";
  test::plant_file(own, "", 0);
  const auto read_replaced = [&](const fs::path& path, const std::string& text,
                                 const std::function<void()>& read) -> std::string {
    fs::remove(path);
    test::plant_link(path, own, attacker);
    const test::Interposing interposing;
    interposing->at_openat = [&] {
      fs::remove(path);
      test::plant_file(path, text, attacker);
    };
    try {
      read();
    } catch (const std::exception& problem) {
      return problem.what();
    }
    return "read";
  };
  EXPECT_TRUE(has(read_replaced(run.timeline(), repeated("{}\n", std::size_t{4} << 20),
                                [&] { read_timeline(run.timeline()); }),
                  "rows and is not read"));
  Manifest manifest;
  EXPECT_EQ(read_replaced(run.manifest(), R"({"format": 1, "user": "root"})",
                          [&] { manifest = read_manifest(run); }),
            "read");
  EXPECT_TRUE(manifest.foreign);
  EXPECT_EQ(manifest.user, std::to_string(attacker));
}

TEST_F(ForeignRun, ALinkIsForeignWhateverItLeadsTo) {
  test::plant_file(run.log(), "", 0);
  EXPECT_FALSE(is_foreign(run.log()));
  test::plant_link(run.manifest(), run.log(), 0);
  EXPECT_TRUE(is_foreign(run.manifest()));
  EXPECT_FALSE(is_foreign(run.lock())) << "nothing is there";
}

TEST_F(ForeignRun, APlanIsReadUpToItsLimit) {
  const ReplayDir replay{run.path / "replays/q"};
  test::plant_directory(replay.path, attacker);
  test::plant_file(replay.plan(), "", attacker);
  fs::resize_file(replay.plan(), foreign_plan_limit + 1);
  EXPECT_TRUE(has(reading([&] { read_plan(replay); }), "bytes and is not read"));
}

// A plan of 32 MiB could have 1.3 million units, which take gigabytes.
TEST_F(ForeignRun, APlanIsReadUpToSoManyUnitsAndValues) {
  const ReplayDir replay{run.path / "replays/q"};
  test::plant_directory(replay.path, attacker);
  const auto plant = [&](std::size_t units, const std::string& names) {
    std::string text =
        R"({"format":1,"run":"r","replay":"q","selected":[[0,1]],"names":[)" + names + R"(],"units":[)";
    for (std::size_t i = 0; i < units; ++i)
      text += (i == 0 ? R"({"id":)" : R"(,{"id":)") + std::to_string(i) + R"(,"last":0})";
    test::plant_file(replay.plan(), text + "]}", attacker);
  };
  plant(most_foreign_units, "");
  EXPECT_EQ(reading([&] { read_plan(replay); }), "read");
  plant(most_foreign_units + 1, "");
  EXPECT_TRUE(has(reading([&] { read_plan(replay); }), "holds more than 200000 units and is not read"));
  EXPECT_EQ(reading([&] { read_plan(replay); }, attacker), "read") << "to its owner it is their own";
  std::string names = "[]";
  for (std::size_t i = 0; i < most_foreign_plan_values / 2; ++i) names += ",[]";
  plant(1, names);
  EXPECT_TRUE(has(reading([&] { read_plan(replay); }), "values and is not read"));
}

TEST_F(ForeignRun, ManyLoopsTakeNoLongerThanTheirRows) {
  std::string rows;
  for (int i = 0; i < 300'000; ++i) rows += R"({"kind":"loop","name":")" + std::to_string(i) + "\"}\n";
  test::plant_file(run.manifest(), R"({"format": 1, "status": "recording"})", attacker);
  test::plant_file(run.timeline(), rows, attacker);
  EXPECT_EQ(reading([&] { read_manifest_and_progress(run); }), "read");
}

TEST_F(ForeignRun, IsForeignForRootThatActsAsItsOwner) {
  test::plant_file(run.timeline(), "", attacker);
  fs::resize_file(run.timeline(), std::uintmax_t{10} << 40);
  const auto read_as_owner = [&] {
    if (::seteuid(attacker) != 0) throw std::runtime_error("cannot act as the owner");
    read_timeline(run.timeline());
  };
  EXPECT_TRUE(has(reading(read_as_owner, 0), "bytes and is not read"));
  // To its owner it is their own.
  fs::resize_file(run.timeline(), 0);
  EXPECT_EQ(reading([&] { read_timeline(run.timeline()); }, attacker), "read");
}

// Ten thousand runs with one large timeline would take a listing hours.
TEST_F(ForeignRun, AFileThatHasSeveralNamesIsReadOnlyWhereItIsSmall) {
  test::plant_file(run.timeline(), "", attacker);
  fs::resize_file(run.timeline(), foreign_linked_limit + 1);
  const auto look = [&] { return reading([&] { read_file(run.timeline()); }); };
  EXPECT_EQ(look(), "read");
  fs::create_hard_link(run.timeline(), run.path / "other");
  EXPECT_TRUE(has(look(), "bytes and is not read"));
  fs::resize_file(run.timeline(), foreign_linked_limit);
  EXPECT_EQ(look(), "read");
}

}  // namespace
}  // namespace flor::core
