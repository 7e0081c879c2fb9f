// Restoring: verified before anything is written, or as it arrives; and only what the objects do not hold.
#include "core/checkpoint/restorer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <new>
#include <random>

#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/materialize/materializer.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

constexpr std::size_t floats = 100000;

// Two large tensors and a number.
class Objects : public State {
 public:
  std::vector<float> frozen = std::vector<float>(floats, 0.5F), head = std::vector<float>(floats, 1.0F);
  double rate = 0.1;
  std::set<std::string> written;  // by the last restore, through the front end
  bool full = false;              // is there no memory for the next one?

  std::vector<Buffer> save() override {
    return {tensor("frozen", frozen), tensor("head", head),
            Buffer::of_bytes("rate", "F64", {}, &rate, sizeof rate)};
  }
  std::optional<std::string> misfit(const LoadedTensors& tensors) override {
    return tensors.size() == 3 ? std::nullopt : std::optional<std::string>("another number of tensors");
  }
  std::optional<std::string> restore(const LoadedTensors& tensors) override {
    written.clear();
    write(tensors, "frozen", frozen.data());
    if (full) throw std::bad_alloc();
    write(tensors, "head", head.data());
    write(tensors, "rate", &rate);
    return std::nullopt;
  }

 private:
  static Buffer tensor(const std::string& name, const std::vector<float>& values) {
    Buffer buffer;
    buffer.name = name;
    buffer.dtype = "F32";
    buffer.shape = {static_cast<int64_t>(values.size())};
    buffer.bytes = values.size() * sizeof(float);
    buffer.data = values.data();
    return buffer;
  }
  void write(const LoadedTensors& tensors, const std::string& name, void* to) {
    const LoadedTensor& from = tensors.at(name);
    if (from.data == nullptr) return;
    std::memcpy(to, from.data, from.bytes);
    written.insert(name);
  }
};

class RestorerTest : public testing::TestWithParam<bool> {
 protected:
  RestorerTest() {
    for (int epoch = 0; epoch < 3; ++epoch) {
      objects_.head.assign(floats, static_cast<float>(epoch));
      objects_.rate = epoch;
      take(epoch);
    }
  }
  void take(int epoch) {
    auto materializer = make_thread_materializer(run_);
    const std::string at = at_of(epoch);
    const std::string file = file_of(epoch);
    EXPECT_EQ(materializer->materialize({"train",
                                         at,
                                         file,
                                         {},
                                         [&](const Materialized& m) {
                                           EXPECT_EQ(m.error, "");
                                           entries_[epoch] = {file, m.state};
                                         }},
                                        objects_.save()),
              "");
    materializer->drain();
  }
  static std::string at_of(int epoch) { return "epoch=" + std::to_string(epoch) + "/train#0"; }
  static std::string file_of(int epoch) {
    return RunDir::checkpoint_file("train", "epoch=" + std::to_string(epoch)).string();
  }
  void restore(int epoch) {
    restorer_.restore(entries_[epoch], at_of(epoch), objects_,
                      GetParam() ? Restorer::OnDamage::spoil : Restorer::OnDamage::keep);
  }

  // What a process that holds nothing yet is told; nothing where all went well.
  std::string damage_of(int epoch, Objects& objects) {
    try {
      Restorer(run_).restore(entries_[epoch], at_of(epoch), objects,
                             GetParam() ? Restorer::OnDamage::spoil : Restorer::OnDamage::keep);
    } catch (const Damage& damage) {
      return damage.what();
    }
    return "";
  }
  static void overwrite(const fs::path& file, std::size_t at, const std::string& bytes) {
    std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(static_cast<std::streamoff>(at));
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  test::TemporaryDirectory directory_;
  const RunDir run_{directory_.path()};
  Objects objects_;
  std::map<int, RecordIndex::CheckpointEntry> entries_;
  Restorer restorer_{run_};
};
INSTANTIATE_TEST_SUITE_P(Both, RestorerTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "spoil" : "keep"; });

TEST_P(RestorerTest, BringsBackEveryValue) {
  for (const int epoch : {1, 0, 2}) {
    restore(epoch);
    EXPECT_EQ(objects_.head, std::vector<float>(floats, static_cast<float>(epoch)));
    EXPECT_EQ(objects_.rate, epoch);
    EXPECT_EQ(state_digest(objects_.save()), entries_[epoch].state);
  }
}

TEST_P(RestorerTest, AFailureHalfWayIsNoDamageThatCouldBePassedOver) {
  objects_.full = true;
  try {
    restore(1);
    FAIL();
  } catch (const Damage& damage) {
    FAIL() << damage.what();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("failed half-way"), std::string::npos) << error.what();
  }
}

TEST_P(RestorerTest, ReadsOnlyWhatTheObjectsDoNotHold) {
  restore(0);
  restore(1);
  EXPECT_EQ(objects_.written.count("frozen"), 0U);
  objects_.frozen[7] = 9;  // however it came about
  restore(2);
  EXPECT_EQ(objects_.frozen, std::vector<float>(floats, 0.5F));
  EXPECT_EQ(objects_.head, std::vector<float>(floats, 2.0F));
}

TEST_P(RestorerTest, FindsEveryDamage) {
  restore(0);
  const std::string whole = read_file(run_.path / file_of(1));
  const auto header =
      decode_header(reinterpret_cast<const unsigned char*>(whole.data()), whole.size(), file_of(1));
  const Objects before = objects_;
  for (const auto& tensor : header.tensors) {
    if (tensor.name == "frozen") continue;  // is there already
    std::string damaged = whole;
    char& byte = damaged[header.data_offset + tensor.begin + 3];
    byte = static_cast<char>(byte ^ 4);
    write_durably(run_.path / file_of(1), damaged);
    try {
      restore(1);
      FAIL() << tensor.name;
    } catch (const Damage& damage) {
      EXPECT_NE(std::string(damage.what()).find(file_of(1) + ": tensor " + tensor.name), std::string::npos)
          << damage.what();
    }
    if (!GetParam()) {
      EXPECT_EQ(objects_.head, before.head);
      EXPECT_EQ(objects_.rate, before.rate);
    }
    restore(2);
    EXPECT_EQ(objects_.head, std::vector<float>(floats, 2.0F));
    restore(0);
  }
}

// In each way of restoring. A sanitizer, which makes it 30 times as long, looks at the code and needs fewer.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int damages = 500;
#else
constexpr int damages = 5000;
#endif

// Anywhere in the file: flipped bits, and every fifth time a cut.
TEST_P(RestorerTest, FindsEveryOneOfThousandsOfDamages) {
  const fs::path file = run_.path / file_of(1);
  const std::string whole = read_file(file);
  const auto header =
      decode_header(reinterpret_cast<const unsigned char*>(whole.data()), whole.size(), file_of(1));
  Objects before;
  before.frozen.assign(floats, -1.0F);  // not what is recorded, so it has to be read
  std::mt19937 random(GetParam() ? 1 : 2);
  for (int i = 0; i < damages; ++i) {
    const std::size_t at = random() % whole.size();
    const bool cut = i % 5 == 4;
    if (cut) {
      fs::resize_file(file, at);
    } else {
      overwrite(file, at, std::string(1, static_cast<char>(whole[at] ^ (1 << (random() % 8)))));
    }
    Objects objects = before;
    const std::string said = damage_of(1, objects);
    EXPECT_NE(said.find(file_of(1)), std::string::npos) << "byte " << at << ": " << said;
    for (const auto& tensor : header.tensors) {
      const std::size_t begin = header.data_offset + tensor.begin;
      if (cut || at < begin || at >= header.data_offset + tensor.end) continue;
      EXPECT_NE(said.find("tensor " + tensor.name), std::string::npos) << "byte " << at << ": " << said;
    }
    if (!GetParam()) {
      EXPECT_EQ(objects.frozen, before.frozen);
      EXPECT_EQ(objects.head, before.head);
    }
    overwrite(file, at, cut ? whole.substr(at) : whole.substr(at, 1));
  }
  EXPECT_EQ(damage_of(1, before), "");
  EXPECT_EQ(before.head, std::vector<float>(floats, 1.0F));
}

TEST_P(RestorerTest, RefusesAFileOfAnotherPlace) {
  EXPECT_THROW(restorer_.restore({file_of(1), entries_[0].state}, at_of(0), objects_), Damage);
}

}  // namespace
}  // namespace flor::core
