// Holes in the files of an earlier attempt: where they are cut, and which rows a resumption would not log
// again.
#include "core/resuming/holes.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "core/files/durable.h"
#include "core/files/json_lines.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

std::vector<std::string> lines_behind_hole(const fs::path& path) {
  std::vector<std::string> lines;
  for_each_line_behind_hole(path, [&](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

TEST(Holes, AnEarlierAttemptsFileIsCutInFrontOfOneOnlyOnRequest) {
  const test::TemporaryDirectory directory;
  const RunDir run{directory / "run"};
  fs::create_directories(run.path);
  const std::string nuls(5, '\0');
  const std::string text = "{}\n{\"a" + nuls + "b\":1}\n{\"c\":1}\n";
  std::ofstream(run.log(), std::ios::binary) << text;
  renew_whole_lines(run.log());
  EXPECT_EQ(read_file(run.log()), text);
  EXPECT_EQ(lines_behind_hole(run.log()), (std::vector<std::string>{"b\":1}", "{\"c\":1}"}));
  cut_at_hole(run.log(), [](std::string_view line) { return line == "{\"c\":1}"; });
  EXPECT_EQ(read_file(run.log()), "{}\n{\"c\":1}\n");
  EXPECT_FALSE(for_each_line_behind_hole(run.log(), nullptr));
  std::ofstream(run.log(), std::ios::binary) << text;
  cut_at_hole(run.log());
  EXPECT_EQ(read_file(run.log()), "{}\n");
  const std::string large(std::size_t{17} << 20, 'x');  // more than is read at once
  std::ofstream(run.log(), std::ios::binary) << large << '\0' << large << "\n{}\n{";
  EXPECT_TRUE(lines_behind_hole(run.log()) == (std::vector<std::string>{large, "{}"}));
}

TEST(Restorable, IsWhatStandsInFrontOfACheckpoint) {
  const Restorable restorable({"epoch=3/@iteration", "epoch=5/train#0/step=7/@step",
                               "epoch=5/train#0/step=3/@step", "epoch=5/warm#0"});
  for (const char* at : {"epoch=2/train#0/step=9", "epoch=3", "epoch=4", "epoch=5/train#0/step=7",
                         "epoch=5/train#0/step=0/x#0", "epoch=5/warm#0/step=1", "epoch=5"})
    EXPECT_TRUE(restorable.has(at)) << at;
  for (const char* at : {"", "epoch=6", "epoch=5/train#0/step=8", "fold=2"})
    EXPECT_FALSE(restorable.has(at)) << at;
  const Restorable blocks({"epoch=1/train#0"});
  EXPECT_TRUE(blocks.has("epoch=1/train#0/step=5"));
  EXPECT_FALSE(blocks.has("epoch=1"));
  EXPECT_FALSE(blocks.has("epoch=0/train#0"));
}

}  // namespace
}  // namespace flor::core
