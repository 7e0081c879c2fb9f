// Samplers for torch::data::make_data_loader. Their order is a function of (seed, epoch). With flor::loop
// over the loader, and an unchanged batch size, they resume in the middle of an epoch without loading the
// samples before:
//
//   flor::RandomSampler sampler(dataset.size().value(), /*seed=*/7);
//   auto loader = torch::data::make_data_loader(dataset, sampler, options);
//   auto state = flor::checkpointing(net, optimizer, sampler);
//   for (int64_t epoch : flor::loop("epoch", epochs)) {
//     if (flor::SkipBlock train{"train", net, optimizer, sampler}; train.step_into()) {
//       auto step_state = flor::checkpointing(net, optimizer, sampler);
//       for (auto& batch : flor::loop("step", *loader)) { … }
//     }
//   }
//
// A copy shares the state of its original, so the loader's copy and the sampler that is checkpointed stay
// equal. Not thread-safe: loaders call them on the training thread.
#pragma once

#include <torch/data/samplers/base.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "flor/archive.h"

namespace flor {
namespace detail {

// Describes the order of the samples of an epoch.
struct SampleOrder {
  int64_t size = 0;
  bool shuffles = false;
  uint64_t seed = 0;
  int64_t replicas = 1, rank = 0;
};
struct SamplerState;

class FLOR_API EpochSampler : public torch::data::samplers::Sampler<> {
 public:
  ~EpochSampler() override;
  EpochSampler(const EpochSampler&) = default;
  EpochSampler& operator=(const EpochSampler&) = default;

  // Begins the next epoch. The first one is 0. After a restore inside an epoch, goes on with that one, if
  // flor::loop is over the loader. `new_size`: the new number of samples.
  void reset(torch::optional<size_t> new_size = torch::nullopt) override;
  // Returns up to `batch_size` indices; nullopt at the end of the epoch.
  torch::optional<std::vector<size_t>> next(size_t batch_size) override;
  // Save and load the epoch, but not the position in it, in an archive of LibTorch.
  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;

  // Sets the epoch of the next reset(). Default: one more than the last. A restore drops it.
  void set_epoch(int64_t epoch);
  // Returns the present epoch; -1 before the first reset().
  int64_t epoch() const;

  friend FLOR_API void flor_state(Archive& archive, EpochSampler& sampler);

 protected:
  // Throws std::invalid_argument for an impossible size or rank.
  explicit EpochSampler(SampleOrder order);

 private:
  std::shared_ptr<SamplerState> state_;
};

FLOR_API void flor_state(Archive& archive, EpochSampler& sampler);

}  // namespace detail

// Takes a new order each epoch, by torch::randperm with a generator of its own. Does not use the default
// generator.
class RandomSampler : public detail::EpochSampler {
 public:
  explicit RandomSampler(int64_t size, uint64_t seed = 0) : EpochSampler({size, true, seed, 1, 0}) {}
};

// Takes the samples in the order of the data set.
class SequentialSampler : public detail::EpochSampler {
 public:
  explicit SequentialSampler(int64_t size) : EpochSampler({size, false, 0, 1, 0}) {}
};

// Of one order that is shuffled, takes the samples of one of `replicas` processes: rank, rank + replicas, and
// so on. If the samples do not divide evenly, the order starts again, so that all get the same number.
class DistributedRandomSampler : public detail::EpochSampler {
 public:
  DistributedRandomSampler(int64_t size, int64_t replicas, int64_t rank, uint64_t seed = 0)
      : EpochSampler({size, true, seed, replicas, rank}) {}
};

// As DistributedRandomSampler, in the order of the data set.
class DistributedSequentialSampler : public detail::EpochSampler {
 public:
  DistributedSequentialSampler(int64_t size, int64_t replicas, int64_t rank)
      : EpochSampler({size, false, 0, replicas, rank}) {}
};

}  // namespace flor
