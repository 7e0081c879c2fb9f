// flor export: which checkpoint, and the bytes of the files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/files/durable.h"
#include "core/store/timeline.h"
#include "export/choose.h"
#include "export/pickle.h"
#include "export/pytorch.h"
#include "export/safetensors.h"
#include "support/refusal.h"
#include "support/temporary.h"

namespace flor::exporting {
namespace {

using core::Json;

core::Manifest manifest() {
  core::Manifest out;
  out.id = "run";
  core::RecordedLoop loop;
  loop.name = "epoch";
  out.loops.push_back(loop);
  return out;
}

Json checkpoint(const std::string& at, const std::string& block) {
  return {
      {"kind", "checkpoint"}, {"at", at}, {"block", block}, {"file", "checkpoints/" + at}, {"state", "s"}};
}

const core::Timeline timeline{
    checkpoint("epoch=entry/@iteration", "@iteration"),
    checkpoint("epoch=1/train#0", "train"),
    checkpoint("epoch=1/@iteration", "@iteration"),
    checkpoint("epoch=3/train#0/step=9/@step", "@step"),
    checkpoint("epoch=3/train#0", "train"),
    checkpoint("epoch=5/train#0", "train"),
    checkpoint("epoch=5/train#1", "train"),
    checkpoint("epoch=5/step=2/optimize#0", "optimize"),
    checkpoint("epoch#1=4/@iteration", "@iteration"),
    checkpoint("epoch=6/@iteration", "@iteration"),
    core::removed_row("checkpoints/epoch=6/@iteration", "epoch=6/@iteration", false),
};

TEST(Choose, TheIterationBeforeTheOnlyBlockBeforeTheOneThatIsNamed) {
  struct {
    int64_t epoch;
    const char* block;
    const char* at;
  } table[] = {{1, "", "epoch=1/@iteration"},
               {1, "train", "epoch=1/train#0"},
               {1, "@iteration", "epoch=1/@iteration"},
               {3, "", "epoch=3/train#0"},
               {3, "@step", "epoch=3/train#0/step=9/@step"},
               {5, "train#1", "epoch=5/train#1"},
               {5, "optimize", "epoch=5/step=2/optimize#0"},
               {5, "step=2/optimize#0", "epoch=5/step=2/optimize#0"}};
  for (const auto& row : table) {
    const Chosen chosen = choose(manifest(), timeline, row.epoch, row.block);
    EXPECT_EQ(chosen.at, row.at);
    EXPECT_EQ(chosen.file, std::string("checkpoints/") + row.at);
  }
}

TEST(Choose, SaysWhatThereIs) {
  struct {
    int64_t epoch;
    const char* block;
    const char* said;
  } table[] = {
      {4, "", "run run has no checkpoint at epoch 4; the nearest with one: 3 and 5"},
      {0, "", "run run has no checkpoint at epoch 0; the nearest with one: 1"},
      {6, "", "run run has no checkpoint at epoch 6; the nearest with one: 5"},
      {3, "@iteration", "run run has no checkpoint of block @iteration at epoch 3; the nearest with one: 1"},
      {3, "eval", "run run has no checkpoint of block eval at epoch 3, nor at any other"},
      {5, "",
       "run run has several checkpoints at epoch 5; choose one with --block: train#0, train#1, "
       "step=2/optimize#0"},
      {5, "train", "run run has several checkpoints at epoch 5; choose one with --block: train#0, train#1"}};
  for (const auto& row : table) {
    EXPECT_EQ(core::refusal_of([&] { choose(manifest(), timeline, row.epoch, row.block); }), row.said);
  }
  core::Manifest none;
  none.id = "run";
  EXPECT_EQ(core::refusal_of([&] { choose(none, {}, 0, ""); }),
            "run run recorded no loop, and so no checkpoint");
}

std::vector<results::Row> rows(const std::vector<std::pair<std::string, Json>>& values) {
  std::vector<results::Row> out;
  for (const auto& [at, value] : values)
    out.push_back(results::row_from({{"name", "loss"}, {"value", value}, {"@at", at}}, "log.jsonl"));
  return out;
}

TEST(BestEpoch, IsThatOfTheLastRowPerEpoch) {
  const auto log = rows({{"", 0.0},
                         {"epoch=0/train#0/step=0", -9},
                         {"epoch=0/train#0/step=1", 3},
                         {"epoch=1", 2.5},
                         {"epoch=2", 2.5},
                         {"epoch=3", "NaN"},
                         {"epoch=4", 7},
                         {"epoch=5", "Infinity"},
                         {"epoch#1=0", -100}});
  EXPECT_EQ(best_epoch(manifest(), log, "loss", false).epoch, 1);
  EXPECT_EQ(best_epoch(manifest(), log, "loss", false).value, 2.5);
  EXPECT_EQ(best_epoch(manifest(), log, "loss", true).epoch, 4);
  EXPECT_EQ(best_epoch(manifest(), log, "loss", true).value, 7);
  EXPECT_EQ(core::refusal_of([&] { best_epoch(manifest(), log, "lost", false); }),
            "run run logged nothing named lost; flor log run shows its rows");
  const auto words = rows({{"epoch=0", "fine"}});
  EXPECT_EQ(core::refusal_of([&] { best_epoch(manifest(), words, "loss", false); }),
            "run run logged no number as loss inside of its loop epoch; flor log run shows its rows");
}

// Tensors in memory of their own.
struct Tensors {
  std::map<std::string, std::string> bytes;
  core::LoadedTensors loaded;

  void add(const std::string& name, const std::string& dtype, const std::vector<int64_t>& shape,
           const std::string& data) {
    bytes[name] = data;
    const auto& kept = bytes.at(name);
    loaded[name] = {dtype, shape, reinterpret_cast<const unsigned char*>(kept.data()), kept.size()};
  }
};

Tensors some() {
  Tensors out;
  out.add("0.flag", "BOOL", {1}, std::string(1, '\1'));
  out.add("0.empty", "F32", {0, 3}, "");
  out.add("0.weight", "F32", {2, 3}, std::string(24, 'w'));
  out.add("1.step", "I64", {}, std::string(8, 's'));
  out.add("2.large", "U8", {70000}, std::string(70000, 'l'));
  return out;
}

TEST(Safetensors, LargerElementsFirstWithoutGaps) {
  const test::TemporaryDirectory directory;
  const Tensors tensors = some();
  write_safetensors(directory / "out", tensors.loaded, {{"run", "r"}});
  const std::string text = core::read_file(directory / "out");
  std::uint64_t length = 0;
  std::memcpy(&length, text.data(), 8);
  EXPECT_EQ(length % 8, 0U);
  const Json header = Json::parse(text.substr(8, length));
  EXPECT_EQ(header["__metadata__"], (Json{{"run", "r"}}));
  std::size_t next = 0;
  std::size_t element = 8;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    const auto begin = entry["data_offsets"][0].get<std::size_t>();
    EXPECT_EQ(begin, next) << name;
    next = entry["data_offsets"][1].get<std::size_t>();
    const std::size_t size = core::dtype_size(entry["dtype"].get<std::string>());
    EXPECT_LE(size, element) << name;
    element = size;
    EXPECT_EQ(text.substr(8 + length + begin, next - begin), tensors.bytes.at(name));
    EXPECT_EQ(entry["shape"].get<std::vector<int64_t>>(), tensors.loaded.at(name).shape);
  }
  EXPECT_EQ(8 + length + next, text.size());
}

// The bytes that Python's pickle module writes for torch.save's arguments, memoization left out.
TEST(Pickle, IsWhatTheProtocolSays) {
  const std::string text = pickled_dict({{"w", "FloatStorage", {2, 300}}});
  const std::string expected = std::string("\x80\x02}(X\x01\0\0\0w", 10) +
                               "ctorch._utils\n_rebuild_tensor_v2\n((" +
                               std::string("X\x07\0\0\0storage", 12) + "ctorch\nFloatStorage\n" +
                               std::string("X\x01\0\0\0\x30X\x03\0\0\0cpuJ\x58\x02\0\0tQK\0", 23) +
                               std::string("(K\x02J\x2c\x01\0\0t(J\x2c\x01\0\0K\x01t", 18) + "\x89" +
                               "ccollections\nOrderedDict\n)RtRu.";
  EXPECT_EQ(text, expected);
  EXPECT_EQ(pickled_dict({}), std::string("\x80\x02}(u.", 6));
  // More elements than 31 bits tell.
  const std::string huge = pickled_dict({{"w", "ByteStorage", {int64_t{1} << 32}}});
  EXPECT_NE(huge.find(std::string("\x8a\x08\0\0\0\0\x01\0\0\0", 10)), std::string::npos);
}

TEST(Pickle, KnowsPyTorchsDtypes) {
  EXPECT_EQ(storage_of("BF16"), "BFloat16Storage");
  EXPECT_EQ(storage_of("BOOL"), "BoolStorage");
  EXPECT_FALSE(storage_of("U16"));
}

std::size_t number(const std::string& text, std::size_t at, int bytes) {
  std::size_t out = 0;
  for (int i = bytes - 1; i >= 0; --i)
    out = (out << 8) | static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)]);
  return out;
}

// name → its bytes' offset, by the local headers (APPNOTE.TXT 4.3.7), which follow each other.
std::map<std::string, std::pair<std::size_t, std::string>> entries(const std::string& zip) {
  std::map<std::string, std::pair<std::size_t, std::string>> out;
  std::size_t at = 0;
  while (zip.compare(at, 4, "PK\x03\x04") == 0) {
    EXPECT_EQ(number(zip, at + 8, 2), 0U) << "compressed";
    const std::size_t size = number(zip, at + 18, 4);
    const std::size_t name = number(zip, at + 26, 2);
    const std::size_t data = at + 30 + name + number(zip, at + 28, 2);
    out[zip.substr(at + 30, name)] = {data, zip.substr(data, size)};
    at = data + size;
  }
  EXPECT_EQ(zip.compare(at, 4, "PK\x01\x02"), 0) << "no central directory behind the entries";
  return out;
}

TEST(PyTorch, StoresEachTensorAlignedUnderItsKey) {
  const test::TemporaryDirectory directory;
  const Tensors tensors = some();
  write_pytorch(directory / "out.pt", tensors.loaded);
  const auto found = entries(core::read_file(directory / "out.pt"));
  ASSERT_EQ(found.size(), 3 + tensors.loaded.size());
  EXPECT_EQ(found.at("archive/version").second, "3\n");
  EXPECT_EQ(found.at("archive/byteorder").second, "little");
  std::size_t key = 0;
  for (const auto& [name, tensor] : tensors.loaded) {
    const auto& entry = found.at("archive/data/" + std::to_string(key++));
    EXPECT_EQ(entry.first % 64, 0U) << name;
    EXPECT_EQ(entry.second, tensors.bytes.at(name));
  }
  // Nothing but the file itself.
  EXPECT_EQ(std::distance(core::fs::directory_iterator(directory.path()), core::fs::directory_iterator()), 1);
}

// PyTorch's files have no such types; an LR scheduler's step count is one.
TEST(PyTorch, UnsignedNumbersAreWidened) {
  const test::TemporaryDirectory directory;
  Tensors tensors;
  tensors.add("0.step_count", "U32", {}, std::string("\xff\xff\xff\xff", 4));
  write_pytorch(directory / "out.pt", tensors.loaded);
  const std::string file = core::read_file(directory / "out.pt");
  EXPECT_NE(file.find("LongStorage"), std::string::npos);
  EXPECT_NE(file.find(std::string("\xff\xff\xff\xff\0\0\0\0", 8)), std::string::npos);
}

// They were written as F32 with one dimension more.
TEST(PyTorch, PairsOfRealsThatAreComplexNumbersBecomeThemAgain) {
  const test::TemporaryDirectory directory;
  Tensors tensors;
  tensors.add("0.spectrum", "F32", {3, 2}, std::string(24, 'c'));
  tensors.add("0.spectrum@kind", "U8", {7}, "complex");
  tensors.add("1.number", "F64", {2}, std::string(16, 'n'));
  tensors.add("1.number@kind", "U8", {22}, "cuda:0 complex trained");
  tensors.add("2.pair", "F32", {3, 2}, std::string(24, 'p'));
  tensors.add("2.pair@kind", "U8", {7}, "trained");
  write_pytorch(directory / "out.pt", tensors.loaded);
  const auto found = entries(core::read_file(directory / "out.pt"));
  EXPECT_EQ(found.at("archive/data.pkl").second, pickled_dict({{"0.spectrum", "ComplexFloatStorage", {3}},
                                                               {"0.spectrum@kind", "ByteStorage", {7}},
                                                               {"1.number", "ComplexDoubleStorage", {}},
                                                               {"1.number@kind", "ByteStorage", {22}},
                                                               {"2.pair", "FloatStorage", {3, 2}},
                                                               {"2.pair@kind", "ByteStorage", {7}}}));
  EXPECT_EQ(found.at("archive/data/0").second, tensors.bytes.at("0.spectrum"));
}

TEST(PyTorch, WritesThroughNoLinkThatWasPlanted) {
  const test::TemporaryDirectory directory;
  const auto tensors = some();
  std::filesystem::create_symlink(directory / "precious",
                                  directory / (".out.pt.tmp." + std::to_string(::getpid())));
  write_pytorch(directory / "out.pt", tensors.loaded);
  EXPECT_FALSE(std::filesystem::exists(directory / "precious"));
}

TEST(PyTorch, LeavesNothingWhereItFails) {
  const test::TemporaryDirectory directory;
  Tensors tensors;
  tensors.add("0.odd", "F8", {1}, "x");
  EXPECT_NE(
      core::refusal_of([&] { write_pytorch(directory / "out.pt", tensors.loaded); }).find("0.odd is F8"),
      std::string::npos);
  EXPECT_TRUE(core::fs::is_empty(directory.path()));
  EXPECT_THROW(write_pytorch(directory / "no/out.pt", some().loaded), std::system_error);
}

}  // namespace
}  // namespace flor::exporting
