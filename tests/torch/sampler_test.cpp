#include <ATen/CPUGeneratorImpl.h>
#include <flor/flor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace flor {
namespace {

using Indices = std::vector<size_t>;

// Keeps an object's numbers, and writes them back.
class Numbers : public Archive {
 public:
  template <class T>
  static Numbers of(T& object) {
    Numbers out;
    walk(out, "0", object);
    return out;
  }
  template <class T>
  void write_to(T& object) {
    writes_ = true;
    walk(*this, "0", object);
  }
  bool operator==(const Numbers& other) const { return values_ == other.values_; }
  int64_t at(const std::string& name) const { return values_.at("0." + name); }

  void tensor(const std::string&, at::Tensor&, const at::Tensor&) override { FAIL(); }
  void fixed_tensor(const std::string&, at::Tensor&) override { FAIL(); }
  void number(const std::string& name, const char*, void* bytes, std::size_t size) override {
    ASSERT_EQ(size, sizeof(int64_t));
    auto& value = *static_cast<int64_t*>(bytes);
    if (writes_) {
      value = values_.at(name);
    } else {
      values_[name] = value;
    }
  }
  void text(const std::string&, std::string&) override { FAIL(); }
  void flags(const std::string&, std::vector<uint8_t>&) override { FAIL(); }
  void generator(const std::string&, at::Generator&) override { FAIL(); }
  bool writing() const override { return writes_; }
  bool restoring() const override { return writes_; }
  int64_t count(const std::string&, int64_t live) override { return live; }

 private:
  bool writes_ = false;
  std::map<std::string, int64_t> values_;
};

// An epoch's indices.
template <class Sampler>
Indices epoch_of(Sampler& sampler, size_t batch = 3) {
  sampler.reset();
  Indices out;
  while (auto some = sampler.next(batch)) out.insert(out.end(), some->begin(), some->end());
  return out;
}

Indices up_to(size_t size) {
  Indices out(size);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

TEST(Samplers, ShuffleBySeedAndEpochAlone) {
  RandomSampler one(10, 7), same(10, 7), other(10, 8);
  torch::manual_seed(1);
  const auto before = at::detail::getDefaultCPUGenerator().get_state();
  const auto first = epoch_of(one);
  EXPECT_TRUE(torch::equal(at::detail::getDefaultCPUGenerator().get_state(), before))
      << "the default generator is not used";
  torch::rand({3});
  EXPECT_EQ(epoch_of(same), first);
  EXPECT_NE(epoch_of(other), first);
  const auto second = epoch_of(one);
  EXPECT_NE(second, first);
  same.set_epoch(1);
  EXPECT_EQ(epoch_of(same, 4), second) << "whatever the size of a batch";
  EXPECT_EQ(same.epoch(), 1);
  auto sorted = first;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, up_to(10));
}

TEST(Samplers, SequentialOnesCount) {
  SequentialSampler sampler(7);
  EXPECT_EQ(epoch_of(sampler), up_to(7));
  sampler.reset();
  EXPECT_EQ(*sampler.next(5), up_to(5));
  EXPECT_EQ(*sampler.next(5), (Indices{5, 6})) << "the last batch may be smaller";
  EXPECT_FALSE(sampler.next(5));
}

TEST(Samplers, RanksShareOneOrder) {
  RandomSampler whole(10, 3);
  const auto order = epoch_of(whole);
  for (int64_t rank = 0; rank < 4; ++rank) {
    DistributedRandomSampler part(10, 4, rank, 3);
    const auto mine = epoch_of(part);
    ASSERT_EQ(mine.size(), 3U) << "all have as many";
    for (size_t k = 0; k < mine.size(); ++k)
      EXPECT_EQ(mine[k], order[(k * 4 + static_cast<size_t>(rank)) % 10]);
  }
  DistributedSequentialSampler last(4, 2, 1);
  EXPECT_EQ(epoch_of(last), (Indices{1, 3}));
}

TEST(Samplers, SayWhatMakesNoSense) {
  EXPECT_THROW(RandomSampler(0), std::invalid_argument);
  EXPECT_THROW(DistributedRandomSampler(5, 2, 2), std::invalid_argument);
  EXPECT_THROW(DistributedSequentialSampler(5, 0, 0), std::invalid_argument);
}

struct Counting : torch::data::datasets::Dataset<Counting> {
  torch::data::Example<> get(size_t index) override {
    ++*loaded;
    return {torch::tensor(static_cast<int64_t>(index)), torch::tensor(0)};
  }
  torch::optional<size_t> size() const override { return 20; }
  std::shared_ptr<std::atomic<int>> loaded = std::make_shared<std::atomic<int>>(0);
};

class SamplerInALoop : public ::testing::TestWithParam<size_t> {
 protected:
  // One pass over a loader in a flor::loop: what each step got. `at_end_of`: called behind each step.
  std::map<int64_t, Indices> pass(RandomSampler sampler, const std::function<void(int64_t)>& at_end_of = {}) {
    auto loader = torch::data::make_data_loader(
        dataset_.map(torch::data::transforms::Stack<>()), std::move(sampler),
        torch::data::DataLoaderOptions().batch_size(3).workers(GetParam()).enforce_ordering(true));
    std::map<int64_t, Indices> steps;
    auto loop = flor::loop("step", *loader);
    int64_t step = 0;
    for (auto& batch : loop) {
      const auto* data = batch.data.template data_ptr<int64_t>();
      steps[step] = Indices(data, data + batch.data.numel());
      if (at_end_of) at_end_of(step);
      ++step;
    }
    return steps;
  }
  Counting dataset_;
};

TEST_P(SamplerInALoop, GoesOnBehindTheStepThatWasCheckpointed) {
  RandomSampler sampler(20, 5);
  pass(sampler);
  std::optional<Numbers> kept;
  const auto whole = pass(sampler, [&](int64_t step) {
    if (step == 2) kept = Numbers::of(sampler);
  });
  EXPECT_EQ(whole.size(), 7U);
  EXPECT_EQ(kept->at("epoch"), 1);
  EXPECT_EQ(kept->at("batch"), 3) << "not where prefetching is";

  RandomSampler again(20, 5);
  kept->write_to(again);
  EXPECT_EQ(Numbers::of(again), *kept) << "what a restore is verified by";
  *dataset_.loaded = 0;
  const auto rest = pass(again);
  EXPECT_EQ(*dataset_.loaded, 20 - 9) << "what lies in front is not loaded";
  ASSERT_EQ(rest.size(), 4U);
  for (int64_t step = 3; step < 7; ++step) EXPECT_EQ(rest.at(step - 3), whole.at(step));
  EXPECT_EQ(again.epoch(), 1);
  EXPECT_EQ(pass(again), pass(sampler)) << "the next epoch is a whole one";
}

TEST_P(SamplerInALoop, BetweenEpochsTheNextOneIsWhole) {
  RandomSampler sampler(20, 5);
  pass(sampler);
  auto kept = Numbers::of(sampler);
  EXPECT_EQ(kept.at("batch"), -1);
  RandomSampler again(20, 5);
  kept.write_to(again);
  EXPECT_EQ(pass(again), pass(sampler));
}

// A replay may go on at a later step of the epoch that it is in.
TEST_P(SamplerInALoop, RestoredInsideOfALoopTheNextEpochIsWhole) {
  RandomSampler sampler(20, 5);
  std::vector<Numbers> kept;
  pass(sampler, [&](int64_t) { kept.push_back(Numbers::of(sampler)); });
  RandomSampler again(20, 5);
  pass(again, [&](int64_t step) {
    if (step != 1) return;
    kept[4].write_to(again);
    EXPECT_EQ(Numbers::of(again), kept[4]);
  });
  EXPECT_EQ(Numbers::of(again).at("batch"), -1);
  EXPECT_EQ(pass(again), pass(sampler));
}

INSTANTIATE_TEST_SUITE_P(Workers, SamplerInALoop, ::testing::Values(0, 2));

}  // namespace
}  // namespace flor
