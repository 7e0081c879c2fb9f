#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "flor/loop.h"
#include "flor/sampler.h"

namespace flor::detail {

struct SamplerState {
  SampleOrder order;
  int64_t epoch = -1;          // the present one; -1: none yet
  int64_t batch = -1;          // where the next reset() begins in it; -1: at the begin of the next one
  std::optional<int64_t> set;  // what set_epoch() said

  torch::Tensor indices;  // of the present epoch
  int64_t at = 0;         // the next one that is handed out
  int64_t first_batch = 0;
  int64_t loop = -1;   // the flor::loop that consumes it
  int64_t ahead = -1;  // where a restore says that this loop is, until it comes there
  int64_t place = -1;  // `batch`, as a checkpoint has it
};

namespace {

// Of one rank.
int64_t count_of(const SampleOrder& order) {
  return (order.size + order.replicas - 1) / order.replicas;
}

// Streams of two (seed, epoch) pairs are independent (splitmix64's finalizer; Steele, Lea, Flood 2014).
uint64_t mixed(uint64_t seed, uint64_t epoch) {
  uint64_t z = seed + (epoch + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

torch::Tensor indices_of(const SampleOrder& order, int64_t epoch) {
  torch::Tensor all;
  if (order.shuffles) {
    const at::Generator generator =
        at::detail::createCPUGenerator(mixed(order.seed, static_cast<uint64_t>(epoch)));
    all = torch::randperm(order.size, generator, torch::kInt64);
  } else {
    all = torch::arange(order.size, torch::kInt64);
  }
  if (order.replicas == 1) return all;
  const auto mine = torch::arange(count_of(order), torch::kInt64) * order.replicas + order.rank;
  return all.index_select(0, mine.remainder(order.size));
}

}  // namespace

EpochSampler::EpochSampler(SampleOrder order) : state_(std::make_shared<SamplerState>()) {
  if (order.size < 1) throw std::invalid_argument("a sampler needs at least one sample");
  if (order.replicas < 1 || order.rank < 0 || order.rank >= order.replicas) {
    throw std::invalid_argument("rank " + std::to_string(order.rank) + " is not one of " +
                                std::to_string(order.replicas) + " replicas");
  }
  state_->order = order;
}

EpochSampler::~EpochSampler() = default;

void EpochSampler::reset(torch::optional<size_t> new_size) {
  SamplerState& s = *state_;
  if (new_size) s.order.size = static_cast<int64_t>(*new_size);
  LoopRun* loop = LoopRun::beginning();
  // Without a flor::loop over it, no one can tell that something was left out.
  const bool goes_on = s.batch >= 0 && loop != nullptr;
  if (!goes_on) s.epoch = s.set.value_or(s.epoch + 1);
  s.first_batch = goes_on ? s.batch : 0;
  s.set.reset();
  s.batch = s.ahead = -1;
  s.at = -1;
  s.indices = indices_of(s.order, s.epoch);
  s.loop = loop != nullptr ? loop->id() : -1;
  if (loop != nullptr) loop->begins_at(s.first_batch);
}

torch::optional<std::vector<size_t>> EpochSampler::next(size_t batch_size) {
  SamplerState& s = *state_;
  if (!s.indices.defined()) reset();
  const auto wanted = static_cast<int64_t>(batch_size);
  if (s.at < 0) s.at = s.first_batch * wanted;
  const int64_t end = std::min(s.at + wanted, s.indices.numel());
  if (s.at >= end) return torch::nullopt;
  const auto* begin = s.indices.data_ptr<int64_t>();
  std::vector<size_t> out(begin + s.at, begin + end);
  s.at = end;
  return out;
}

void EpochSampler::set_epoch(int64_t epoch) {
  state_->set = epoch;
}

int64_t EpochSampler::epoch() const {
  return state_->epoch;
}

void EpochSampler::save(torch::serialize::OutputArchive& archive) const {
  archive.write("epoch", torch::tensor(state_->epoch, torch::kInt64), /*is_buffer=*/true);
}

void EpochSampler::load(torch::serialize::InputArchive& archive) {
  torch::Tensor epoch = torch::empty(1, torch::kInt64);
  archive.read("epoch", epoch, /*is_buffer=*/true);
  state_->epoch = epoch.item<int64_t>();
  state_->batch = -1;
}

void flor_state(Archive& archive, EpochSampler& sampler) {
  SamplerState& s = *sampler.state_;
  archive("epoch", s.epoch);
  // Of the loop that consumes them: a loader with workers has asked for batches beyond. Outside of it, where
  // the next one is to begin. What was written is also what is read, before the loop has come there.
  const int64_t ended = s.loop >= 0 ? LoopRun::ended_in(s.loop) : -1;
  s.place = ended >= 0 ? std::max(ended, s.ahead) : s.batch;
  archive("batch", s.place);
  if (!archive.writing()) return;
  (ended >= 0 ? s.ahead : s.batch) = s.place;
  s.set.reset();
}

}  // namespace flor::detail
