#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>

#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/checkpoint/listing.h"
#include "core/checkpoint/reader.h"
#include "core/checkpoint/recorded_timeline.h"
#include "core/files/durable.h"
#include "core/materialize/materializer.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

using test::TemporaryDirectory;

Buffer floats(const std::string& name, const std::vector<float>& values) {
  Buffer buffer;
  buffer.name = name;
  buffer.dtype = "F32";
  buffer.shape = {static_cast<int64_t>(values.size())};
  buffer.bytes = values.size() * sizeof(float);
  buffer.data = values.data();
  buffer.hint =
      ChangeHint{{reinterpret_cast<std::uint64_t>(values.data()), 0, 0, 0}, 0, std::make_shared<int>(0)};
  return buffer;
}

std::string materialize(Materializer& materializer, const std::string& stem,
                        const std::vector<Buffer>& buffers, Materialized* result = nullptr) {
  const std::string file = RunDir::checkpoint_file("train", stem).string();
  const auto error = materializer.materialize({"train",
                                               stem + "/train#0",
                                               file,
                                               {},
                                               [&](const Materialized& m) {
                                                 EXPECT_EQ(m.error, "");
                                                 if (result != nullptr) *result = m;
                                               }},
                                              buffers);
  EXPECT_EQ(error, "");
  materializer.drain();
  return file;
}

class CheckpointTest : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  RunDir run_{directory_.path()};
  std::unique_ptr<Materializer> materializer_ = make_thread_materializer(Tiers(run_));
  std::vector<float> weights_ = std::vector<float>(1000, 0.5F);
};

TEST_F(CheckpointTest, ALinkHasNoBytesOfWhatItLeadsTo) {
  fs::create_directories(run_.checkpoints() / "train");
  std::ofstream(directory_ / "secret") << "x";
  fs::resize_file(directory_ / "secret", 1 << 20);
  fs::create_symlink(directory_ / "secret", run_.checkpoints() / "train" / "epoch=1.safetensors");
  EXPECT_EQ(checkpoint_files(run_).files.size(), 1U);
  EXPECT_LT(checkpoint_files(run_).bytes, 4096U);
  EXPECT_EQ(recorded_timeline_and_files(run_).files.bytes, 0U);
}

TEST_F(CheckpointTest, LoadsWhatWasWritten) {
  const double lr = 0.125;
  Materialized result;
  const auto file =
      materialize(*materializer_, "epoch=3",
                  {floats("0.weight", weights_), Buffer::of_bytes("1.lr", "F64", {}, &lr, sizeof lr),
                   Buffer::of_bytes("generator.cpu", "U8", {3}, "abc", 3)},
                  &result);
  EXPECT_EQ(file, "checkpoints/train/epoch=3.safetensors");
  const Checkpoint loaded = Checkpoint::load(run_, file);
  EXPECT_EQ(loaded.header().at, "epoch=3/train#0");
  EXPECT_EQ(loaded.header().state, result.state);
  EXPECT_EQ(loaded.tensors().at("0.weight").shape, (std::vector<int64_t>{1000}));
  EXPECT_EQ(std::memcmp(loaded.tensors().at("0.weight").data, weights_.data(), 4000), 0);
  EXPECT_EQ(std::memcmp(loaded.tensors().at("1.lr").data, &lr, 8), 0);
  EXPECT_EQ(loaded.generators().at("cpu"), "abc");
  // The digest of the live state is that of the file: what the verdict compares.
  EXPECT_EQ(state_digest({floats("0.weight", weights_), Buffer::of_bytes("1.lr", "F64", {}, &lr, sizeof lr)}),
            result.state);
}

TEST_F(CheckpointTest, IsAPlainSafetensorsFile) {
  const auto file = materialize(*materializer_, "epoch=3", {floats("0.weight", weights_)});
  const std::string bytes = read_file(run_.path / file);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0U);
  const Json header = Json::parse(bytes.substr(8, length));
  EXPECT_EQ(header["0.weight"]["dtype"], "F32");
  EXPECT_EQ(header["0.weight"]["data_offsets"], (Json{0, 4000}));
  EXPECT_EQ(bytes.size(), 8 + length + 4000);
  for (const auto& [key, value] : header["__metadata__"].items()) EXPECT_TRUE(value.is_string()) << key;
}

// The copy: training may change the buffers as soon as materialize() returns.
TEST_F(CheckpointTest, HoldsTheValuesOfTheMomentItWasTaken) {
  const std::string file = RunDir::checkpoint_file("train", "epoch=0").string();
  std::vector<float> large(4 << 20, 1.0F);
  materializer_->materialize({"train", "epoch=0/train#0", file, {}, [](const Materialized&) {}},
                             {floats("0", large)});
  std::fill(large.begin(), large.end(), 2.0F);
  materializer_->drain();
  const Checkpoint loaded = Checkpoint::load(run_, file);
  const std::vector<float> expected(4 << 20, 1.0F);
  EXPECT_EQ(std::memcmp(loaded.tensors().at("0").data, expected.data(), loaded.tensors().at("0").bytes), 0);
}

// Semantics 24 and the "Damage": whatever changes in a file is found and named.
TEST_F(CheckpointTest, EveryFlippedBitIsFound) {
  const auto file = materialize(*materializer_, "epoch=3", {floats("0.weight", weights_)});
  const std::string whole = read_file(run_.path / file);
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    std::string damaged = whole;
    // The first tries walk over the header, where names, shapes, offsets and the digests themselves stand.
    const std::size_t at = i < 200 ? (static_cast<std::size_t>(i) * 7) % 1200 : random() % whole.size();
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (random() % 8)));
    write_durably(run_.path / file, damaged);
    EXPECT_THROW(Checkpoint::load(run_, file), Damage) << "byte " << at;
    EXPECT_FALSE(Checkpoint::verify(run_, file).empty());
  }
}

// A header that was made up, digest and all.
TEST(CheckpointHeaderTest, AShapeThatCannotBeCountedIsDamage) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{int64_t{1} << 32, int64_t{1} << 32}, std::vector<int64_t>{-1, -4}}) {
    CheckpointHeader header;
    header.tensors.resize(1);
    header.tensors[0] = {"0", "F32", shape, digest_of(""), 0, 0, "", ""};
    const std::string text = encode_header(header);
    EXPECT_THROW(decode_header(reinterpret_cast<const unsigned char*>(text.data()), text.size(), "x"),
                 Damage);
  }
}

// Eight times its elements are no bytes, as a product of 64 bits.
TEST_F(CheckpointTest, AShapeWhoseBytesCannotBeCountedIsDamage) {
  CheckpointHeader header;
  header.tensors.resize(1);
  header.tensors[0] = {"0", "F64", {int64_t{1} << 61}, digest_of(""), 0, 0, "", ""};
  const std::string file = "checkpoints/train/large.safetensors";
  fs::create_directories((run_.path / file).parent_path());
  write_durably(run_.path / file, encode_header(header));
  EXPECT_THROW(Checkpoint::load(run_, file), Damage);
}

// Another user's checkpoint may change while root's `flor gc` reads it. An access to a mapping would end the
// process.
TEST_F(CheckpointTest, AHeaderThatIsCutWhileItIsReadIsDamage) {
  CheckpointHeader header;
  header.tensors.resize(1);
  header.tensors[0] = {std::string(1 << 20, 'x'), "F32", {0}, digest_of(""), 0, 0, "", ""};
  const std::string text = encode_header(header);
  const std::string name = "checkpoints/train/cut";
  const fs::path path = run_.path / name;
  fs::create_directories(path.parent_path());
  write_durably(path, text);
  std::atomic<bool> done{false};
  std::thread owner([&] {
    while (!done) {
      fs::resize_file(path, 4096);
      std::ofstream(path, std::ios::in | std::ios::out).write(text.data(), static_cast<long>(text.size()));
    }
  });
  int whole = 0, cut = 0;
  for (int i = 0; i < 200 || whole == 0 || cut == 0; ++i) {
    try {
      EXPECT_EQ(Checkpoint::header_of(run_, name).tensors.size(), 1U);
      ++whole;
    } catch (const Damage&) {
      ++cut;
    }
  }
  done = true;
  owner.join();
}

TEST_F(CheckpointTest, TruncationAndAbsenceAreFoundAndNamed) {
  const auto file = materialize(*materializer_, "epoch=3", {floats("0.weight", weights_)});
  const std::string whole = read_file(run_.path / file);
  for (std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{100}, whole.size() - 1}) {
    write_durably(run_.path / file, whole.substr(0, size));
    EXPECT_THROW(Checkpoint::load(run_, file), Damage) << size;
  }
  fs::remove(run_.path / file);
  const auto damages = Checkpoint::verify(run_, file);
  ASSERT_EQ(damages.size(), 1U);
  EXPECT_NE(damages[0].find("missing"), std::string::npos);
}

TEST_F(CheckpointTest, DamageInAReferencedFileNamesTensorAndFile) {
  std::vector<float> head(1000, 1.0F);
  const auto first = materialize(*materializer_, "epoch=0", {floats("0.frozen", weights_)});
  const auto second =
      materialize(*materializer_, "epoch=1", {floats("0.frozen", weights_), floats("0.head", head)});
  std::string bytes = read_file(run_.path / first);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_durably(run_.path / first, bytes);
  const auto damages = Checkpoint::verify(run_, second);
  ASSERT_EQ(damages.size(), 1U);
  EXPECT_NE(damages[0].find("epoch=0.safetensors"), std::string::npos);
  EXPECT_NE(damages[0].find("0.frozen"), std::string::npos);
}

TEST_F(CheckpointTest, AFailedWriteIsReportedAndLeavesNothing) {
  std::ofstream(run_.path / "checkpoints") << "a file where the directory should be";
  std::string error;
  materializer_->materialize({"train",
                              "epoch=0/train#0",
                              "checkpoints/train/epoch=0.safetensors",
                              {},
                              [&](const Materialized& m) { error = m.error; }},
                             {floats("0", weights_)});
  materializer_->drain();
  EXPECT_FALSE(error.empty());
}

}  // namespace
}  // namespace flor::core
