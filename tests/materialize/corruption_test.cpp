// Whatever changes in a checkpoint file is found when it is restored, and what it hit is named.
#include <fstream>
#include <random>

#include "core/files/durable.h"
#include "recording.h"

namespace flor::core {
namespace {

using test::Recording;
using test::Tensor;

constexpr int tries = 10000;

class Corruption : public testing::Test {
 protected:
  void SetUp() override {
    run_.take(0, {frozen_.buffer("0.frozen"), head_.buffer("0.head")});
    head_.write(2.0F);
    run_.take(1, {frozen_.buffer("0.frozen"), head_.buffer("0.head")});
  }

  // Without the durable chain: this file need not survive the machine.
  void put(const std::string& file, const std::string& bytes) {
    std::ofstream(run_.dir.path / file, std::ios::binary | std::ios::trunc) << bytes;
  }

  // What restoring epoch 1 says; empty when it is loaded.
  std::string complaint() const {
    try {
      Checkpoint::load(run_.dir, Recording::file(1));
      return "";
    } catch (const Damage& damage) {
      return damage.what();
    }
  }

  Recording run_{"thread"};
  const Tensor frozen_{1500, 0.5F};
  Tensor head_{700, 1.0F};
  std::mt19937 random_{20261120};
};

TEST_F(Corruption, EveryFlippedBitIsFoundAndNamed) {
  for (int epoch = 0; epoch < 2; ++epoch) {
    const auto file = Recording::file(epoch);
    const std::string whole = read_file(run_.dir.path / file);
    // Epoch 1 refers to the frozen tensor of epoch 0, not to the head there.
    const auto header =
        decode_header(reinterpret_cast<const unsigned char*>(whole.data()), whole.size(), file);
    for (int i = 0; i < tries / 2; ++i) {
      std::string damaged = whole;
      const std::size_t at = random_() % whole.size();
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << (random_() % 8)));
      put(file, damaged);
      const std::string said = complaint();
      std::string expected = at < header.data_offset ? file : "";
      for (const auto& tensor : header.tensors) {
        const bool hit = tensor.file.empty() && at >= header.data_offset + tensor.begin &&
                         at < header.data_offset + tensor.end;
        if (hit && (epoch == 1 || tensor.name == "0.frozen")) expected = file + ": tensor " + tensor.name;
      }
      if (expected.empty()) {
        EXPECT_EQ(said, "") << "byte " << at << " is no part of epoch 1";
      } else {
        EXPECT_EQ(said.substr(0, expected.size()), expected) << "byte " << at;
      }
    }
    put(file, whole);
  }
  EXPECT_EQ(complaint(), "");
}

TEST_F(Corruption, EveryTruncationIsFoundAndNamed) {
  for (int epoch = 0; epoch < 2; ++epoch) {
    const auto file = Recording::file(epoch);
    const std::string whole = read_file(run_.dir.path / file);
    for (int i = 0; i < 1000; ++i) {
      put(file, whole.substr(0, random_() % whole.size()));
      EXPECT_EQ(complaint().substr(0, file.size()), file);
    }
    put(file, whole);
  }
}

}  // namespace
}  // namespace flor::core
