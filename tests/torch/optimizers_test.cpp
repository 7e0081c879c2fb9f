#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>

#include "objects.h"

namespace flor {
namespace {

using test::Record;
namespace optim = torch::optim;

// A model with two parameter groups and the optimizer under test.
struct Training {
  explicit Training(
      const std::function<std::unique_ptr<optim::Optimizer>(std::vector<optim::OptimizerParamGroup>)>& make,
      bool one_group = false)
      : net(3, 2) {
    std::vector<optim::OptimizerParamGroup> groups;
    if (one_group) {
      groups.emplace_back(net->parameters());
    } else {
      groups.emplace_back(std::vector<at::Tensor>{net->weight});
      groups.emplace_back(std::vector<at::Tensor>{net->bias});
    }
    optimizer = make(std::move(groups));
  }

  void step() {
    const auto x = at::ones({4, 3});
    optimizer->step([&] {
      optimizer->zero_grad();
      auto loss = net(x).square().mean();
      loss.backward();
      return loss;
    });
  }

  torch::nn::Linear net;
  std::unique_ptr<optim::Optimizer> optimizer;
};

class Rule04Optimizers : public testing::TestWithParam<std::string> {
 protected:
  static Training make() {
    const auto kind = GetParam();
    return Training(
        [kind](std::vector<optim::OptimizerParamGroup> groups) -> std::unique_ptr<optim::Optimizer> {
          if (kind == "adam")
            return std::make_unique<optim::Adam>(groups, optim::AdamOptions(0.1).amsgrad(true));
          if (kind == "adamw") return std::make_unique<optim::AdamW>(groups, optim::AdamWOptions(0.1));
          if (kind == "sgd")
            return std::make_unique<optim::SGD>(groups, optim::SGDOptions(0.1).momentum(0.9));
          if (kind == "rmsprop") {
            return std::make_unique<optim::RMSprop>(groups,
                                                    optim::RMSpropOptions(0.1).momentum(0.5).centered(true));
          }
          if (kind == "adagrad") return std::make_unique<optim::Adagrad>(groups, optim::AdagradOptions(0.1));
          return std::make_unique<optim::LBFGS>(groups, optim::LBFGSOptions(0.1).max_iter(3));
        },
        kind == "lbfgs");
  }
};

// What training does from a restored state is what it did from the state itself.
// So that memory for the first checkpoint can be made ready before the first step.
TEST_P(Rule04Optimizers, TellsWhatItsFirstStepWillMake) {
  Training training = make();
  detail::TorchState state(std::make_unique<ObjectsOf<optim::Optimizer>>(*training.optimizer));
  const auto tensor_bytes = [&] {
    std::size_t bytes = 0;
    for (const auto& buffer : state.save()) bytes += buffer.dtype == "F32" ? buffer.bytes : 0;
    return bytes;
  };
  const std::size_t before = tensor_bytes();
  const std::size_t to_come = state.bytes_to_come();
  training.step();
  EXPECT_EQ(state.bytes_to_come(), 0U);
  if (GetParam() != "lbfgs") {  // what that makes depends on its search
    EXPECT_EQ(tensor_bytes(), before + to_come);
  }
}

TEST_P(Rule04Optimizers, ARestoredOptimizerGoesOnBitForBit) {
  auto training = make();
  for (int i = 0; i < 3; ++i) training.step();
  auto& optimizer = *training.optimizer;
  const auto record = Record::of(training.net, optimizer);
  for (int i = 0; i < 4; ++i) training.step();
  const auto expected = Record::of(training.net, optimizer).digest();
  training.step();
  ASSERT_EQ(record.restore_into(training.net, optimizer), std::nullopt);
  EXPECT_EQ(Record::of(training.net, optimizer).digest(), record.digest());
  for (int i = 0; i < 4; ++i) training.step();
  EXPECT_EQ(Record::of(training.net, optimizer).digest(), expected);
}

// Into another process's optimizer, whose state is keyed by other addresses and still empty.
TEST_P(Rule04Optimizers, StateIsAddressedByPositionNotByAddress) {
  auto training = make();
  for (int i = 0; i < 3; ++i) training.step();
  const auto record = Record::of(training.net, *training.optimizer);
  auto fresh = make();
  ASSERT_EQ(record.restore_into(fresh.net, *fresh.optimizer), std::nullopt);
  training.step();
  fresh.step();
  EXPECT_EQ(Record::of(fresh.net, *fresh.optimizer).digest(),
            Record::of(training.net, *training.optimizer).digest());
}

TEST_P(Rule04Optimizers, RestoringFromBeforeTheFirstStepLeavesNoState) {
  auto training = make();
  const auto record = Record::of(training.net, *training.optimizer);
  for (int i = 0; i < 2; ++i) training.step();
  ASSERT_EQ(record.restore_into(training.net, *training.optimizer), std::nullopt);
  EXPECT_EQ(Record::of(training.net, *training.optimizer).digest(), record.digest());
  const bool begins_with_state = GetParam() == "adagrad";
  EXPECT_EQ(training.optimizer->state().empty(), !begins_with_state);
}

INSTANTIATE_TEST_SUITE_P(All, Rule04Optimizers,
                         testing::Values("adam", "adamw", "sgd", "rmsprop", "adagrad", "lbfgs"),
                         [](const auto& info) { return info.param; });

TEST(Rule04Options, LearningRatesOfEachGroup) {
  torch::nn::Linear net(3, 2);
  std::vector<optim::OptimizerParamGroup> groups{{{net->weight}}, {{net->bias}}};
  optim::SGD optimizer(groups, optim::SGDOptions(0.5));
  optimizer.param_groups()[1].options().set_lr(0.25);
  const auto record = Record::of(optimizer);
  for (auto& group : optimizer.param_groups()) group.options().set_lr(9);
  ASSERT_EQ(record.restore_into(optimizer), std::nullopt);
  EXPECT_EQ(optimizer.param_groups()[0].options().get_lr(), 0.5);
  EXPECT_EQ(optimizer.param_groups()[1].options().get_lr(), 0.25);
}

TEST(Rule04Schedulers, TheStepCountIsState) {
  torch::nn::Linear net(3, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(1.0));
  optim::StepLR scheduler(optimizer, 3, 0.5);
  for (int i = 0; i < 2; ++i) scheduler.step();
  const auto record = Record::of(optimizer, scheduler);
  auto rates = [&] {
    std::vector<double> out;
    for (int i = 0; i < 4; ++i) {
      scheduler.step();
      out.push_back(optimizer.param_groups()[0].options().get_lr());
    }
    return out;
  };
  const auto expected = rates();
  ASSERT_EQ(record.restore_into(optimizer, scheduler), std::nullopt);
  EXPECT_EQ(rates(), expected);
}

// A record of other optimizer state must not be half written.
TEST(Rule04Optimizer, AnotherOptimizersRecordDoesNotFit) {
  torch::nn::Linear net(3, 2);
  optim::SGD sgd(net->parameters(), optim::SGDOptions(1.0));
  optim::Adam adam(net->parameters());
  EXPECT_NE(Record::of(adam).restore_into(sgd), std::nullopt);
}

// Semantics 6: a loader that is built inside of a block takes its order from the generator at the block's
// entry.
TEST(Rule06DataLoaders, ALoaderRebuiltFromTheSameGeneratorStateDealsTheSameBatches) {
  auto order = [] {
    auto data = torch::data::datasets::TensorDataset(at::arange(20))
                    .map(torch::data::transforms::Stack<torch::data::TensorExample>());
    auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(std::move(data), 5);
    std::vector<at::Tensor> batches;
    for (auto& batch : *loader) batches.push_back(batch.data);
    return at::cat(batches);
  };
  at::Generator generator = at::globalContext().defaultGenerator(at::kCPU);
  const auto state = generator.get_state();
  const auto first = order();
  EXPECT_FALSE(order().equal(first));
  generator.set_state(state);
  EXPECT_TRUE(order().equal(first));
}

}  // namespace
}  // namespace flor
