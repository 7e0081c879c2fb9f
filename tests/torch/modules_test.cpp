#include <gtest/gtest.h>
#include <torch/torch.h>

#include <array>

#include "objects.h"

namespace user {
struct Ema {
  at::Tensor mean = at::zeros({3});
  double decay = 0.9;
  int64_t count = 0;
};
void flor_state(flor::Archive& archive, Ema& ema) {
  archive("mean", ema.mean);
  archive("decay", ema.decay);
  archive("count", ema.count);
}
}  // namespace user

namespace flor {
namespace {

using test::Record;

struct NetImpl : torch::nn::Module {
  NetImpl()
      : linear(register_module("linear", torch::nn::Linear(3, 4))),
        norm(register_module("norm", torch::nn::BatchNorm1d(4))),
        dropout(register_module("dropout", torch::nn::Dropout(0.5))) {}
  at::Tensor forward(const at::Tensor& x) { return dropout(norm(linear(x))); }
  torch::nn::Linear linear;
  torch::nn::BatchNorm1d norm;
  torch::nn::Dropout dropout;
};
TORCH_MODULE(Net);

TEST(Rule01ByReference, ObjectsAreReadAnewAtEachCheckpoint) {
  at::Tensor h = at::zeros({2});
  detail::TorchState state(std::make_unique<ObjectsOf<at::Tensor>>(h));
  const auto before = core::state_digest(state.save());
  h = at::ones({2});  // the variable is rebound, as `h = next_h;` does
  EXPECT_NE(core::state_digest(state.save()), before);
}

TEST(Rule01ByReference, AcceptsEveryListedKind) {
  double number = 1.5;
  bool truth = true;
  uint8_t small = 7;
  std::string text = "abc";
  std::vector<double> numbers{1, 2};
  std::vector<std::string> texts{"x"};
  std::vector<bool> truths{true, false};
  std::vector<at::Tensor> tensors{at::ones({2})};
  auto shared = std::make_shared<NetImpl>();
  at::Generator generator = at::detail::createCPUGenerator(3);
  user::Ema ema;
  ema.count = 4;
  const auto record =
      Record::of(number, truth, small, text, numbers, texts, truths, tensors, shared, generator, ema);
  number = 0, truth = false, small = 0, text = "longer than before", numbers = {9, 9, 9}, texts.clear();
  truths = {false}, tensors = {at::zeros({2}), at::zeros({5})}, ema = user::Ema();
  const auto drawn = at::randint(1000, {4}, generator);
  EXPECT_EQ(record.restore_into(number, truth, small, text, numbers, texts, truths, tensors, shared,
                                generator, ema),
            std::nullopt);
  EXPECT_EQ(number, 1.5);
  EXPECT_TRUE(truth);
  EXPECT_EQ(small, 7);
  EXPECT_EQ(text, "abc");
  EXPECT_EQ(numbers, (std::vector<double>{1, 2}));
  EXPECT_EQ(texts, std::vector<std::string>{"x"});
  EXPECT_EQ(truths, (std::vector<bool>{true, false}));
  ASSERT_EQ(tensors.size(), 1U);
  EXPECT_TRUE(tensors[0].equal(at::ones({2})));
  EXPECT_EQ(ema.count, 4);
  EXPECT_TRUE(at::randint(1000, {4}, generator).equal(drawn));
}

TEST(Rule02InPlace, ParametersAreNeverReplaced) {
  Net net;
  const auto record = Record::of(net);
  const void* memory = net->linear->weight.data_ptr();
  const auto held = net->linear->weight;
  {
    const at::NoGradGuard no_grad;
    net->linear->weight.add_(1);
  }
  const auto version = net->linear->weight._version();
  EXPECT_EQ(record.restore_into(net), std::nullopt);
  EXPECT_EQ(net->linear->weight.data_ptr(), memory);
  EXPECT_TRUE(held.is_same(net->linear->weight));
  EXPECT_TRUE(net->linear->weight.requires_grad());
  EXPECT_FALSE(net->linear->weight.grad_fn());
  EXPECT_GT(net->linear->weight._version(), version);  // written in place, and autograd knows
  EXPECT_EQ(Record::of(net).digest(), record.digest());
}

TEST(Rule02InPlace, OnlyAPlainTensorOfAnotherShapeIsRebound) {
  at::Tensor same = at::ones({2});
  at::Tensor grown = at::ones({2});
  at::Tensor undefined;
  const auto record = Record::of(same, grown, undefined);
  const void* memory = same.data_ptr();
  same.zero_();
  grown = at::zeros({5});
  undefined = at::zeros({1});
  EXPECT_EQ(record.restore_into(same, grown, undefined), std::nullopt);
  EXPECT_EQ(same.data_ptr(), memory);
  EXPECT_TRUE(same.equal(at::ones({2})));
  EXPECT_TRUE(grown.equal(at::ones({2})));
  EXPECT_FALSE(undefined.defined());
}

TEST(Rule02InPlace, SharedStorageStaysShared) {
  at::Tensor weights = at::arange(4, at::kFloat);
  at::Tensor tied = weights.view({2, 2});
  const auto record = Record::of(weights, tied);
  weights.zero_();
  EXPECT_EQ(record.restore_into(weights, tied), std::nullopt);
  EXPECT_EQ(tied.data_ptr(), weights.data_ptr());
  weights[3] = 42;
  EXPECT_EQ(tied[1][1].item<float>(), 42);
}

TEST(Rule02InPlace, TensorsThatShareMemoryOnlyHereArePulledApart) {
  std::vector<at::Tensor> hidden = {at::ones({4}), at::full({4}, 2)};
  const auto record = Record::of(hidden);
  std::vector<at::Tensor> live(2, at::zeros({4}));  // as a program initializes them: one storage
  EXPECT_EQ(record.restore_into(live), std::nullopt);
  EXPECT_TRUE(live[0].equal(at::ones({4})));
  EXPECT_TRUE(live[1].equal(at::full({4}, 2)));
}

TEST(Rule02InPlace, ComplexTensorsComeBackComplexIntoUndefinedOnes) {
  at::Tensor complex = at::view_as_complex(at::arange(6, at::kFloat).view({3, 2}).contiguous());
  const auto record = Record::of(complex);
  at::Tensor undefined;
  EXPECT_EQ(record.restore_into(undefined), std::nullopt);
  ASSERT_TRUE(undefined.is_complex());
  EXPECT_TRUE(at::equal(undefined, complex));
}

TEST(Rule02InPlace, ATrainedTensorComesBackTrainedIntoAnUndefinedOne) {
  at::Tensor weight = torch::ones({3}, torch::requires_grad());
  const auto record = Record::of(weight);
  at::Tensor undefined;
  EXPECT_EQ(record.restore_into(undefined), std::nullopt);
  EXPECT_TRUE(undefined.requires_grad());
  EXPECT_EQ(Record::of(undefined).digest(), record.digest());
  weight.set_requires_grad(false);  // unfreezing and freezing are state
  EXPECT_NE(Record::of(weight).digest(), record.digest());
  const at::TensorImpl* before = weight.unsafeGetTensorImpl();
  EXPECT_EQ(record.restore_into(weight), std::nullopt);
  EXPECT_TRUE(weight.requires_grad());
  EXPECT_EQ(weight.unsafeGetTensorImpl(), before);
}

TEST(Rule03Modules, ComplexBuffersAreRestored) {
  struct Wave : torch::nn::Module {
    Wave() { phase = register_buffer("phase", at::zeros({2}, at::kComplexFloat)); }
    at::Tensor phase;
  };
  const auto wave = std::make_shared<Wave>();
  std::shared_ptr<Wave> object = wave;
  wave->phase.fill_(c10::complex<float>(1, 2));
  const auto record = Record::of(object);
  wave->phase.zero_();
  EXPECT_EQ(record.restore_into(object), std::nullopt);
  EXPECT_EQ(Record::of(object).digest(), record.digest());
}

// Marks: the version counter moves with operators; what an optimizer may write past it has none.
TEST(Marks, MoveWithEveryOperatorAndTellMemoryApart) {
  at::Tensor tensor = at::zeros({100});
  const auto hint_of = [](at::Tensor& value) {
    detail::TorchState state(std::make_unique<ObjectsOf<at::Tensor>>(value));
    return state.save().front().hint;
  };
  const auto first = hint_of(tensor);
  ASSERT_TRUE(first);
  EXPECT_EQ(hint_of(tensor)->version, first->version);
  tensor.add_(1);
  EXPECT_NE(hint_of(tensor)->version, first->version);
  EXPECT_EQ(hint_of(tensor)->memory, first->memory);
  at::Tensor view = tensor.view({10, 10});
  const auto version = hint_of(tensor)->version;
  view.add_(1);
  EXPECT_NE(hint_of(tensor)->version, version);
  at::Tensor other = tensor.data();  // a counter of its own over the same memory
  EXPECT_NE(hint_of(other)->memory, first->memory);
  at::Tensor trained = torch::zeros({100}, torch::requires_grad());
  EXPECT_FALSE(hint_of(trained));
}

// What is kept of a tensor that is gone is no more than its identity.
TEST(Marks, KeepNoMemory) {
  std::optional<core::ChangeHint> hint;
  c10::weak_intrusive_ptr<c10::StorageImpl> storage(c10::intrusive_ptr<c10::StorageImpl>{});
  {
    at::Tensor tensor = at::zeros({1000});
    storage = tensor.storage().getWeakStorageImpl();
    detail::TorchState state(std::make_unique<ObjectsOf<at::Tensor>>(tensor));
    hint = state.save().front().hint;
  }
  ASSERT_TRUE(hint);
  EXPECT_TRUE(storage.expired());
}

TEST(Rule02InPlace, NonContiguousMemoryIsWrittenWhereItLies) {
  at::Tensor base = at::arange(6, at::kFloat).view({2, 3});
  at::Tensor transposed = base.t();
  const auto record = Record::of(transposed);
  base.zero_();
  EXPECT_EQ(record.restore_into(transposed), std::nullopt);
  EXPECT_TRUE(base.equal(at::arange(6, at::kFloat).view({2, 3})));
}

struct Packed {
  float a = 0, b = 0;
};
void flor_state(Archive& archive, Packed& packed) {
  at::Tensor values = at::tensor({packed.a, packed.b});  // lives no longer than this call
  archive("values", values);
  if (archive.writing()) {
    packed.a = values[0].item<float>();
    packed.b = values[1].item<float>();
  }
}

TEST(Hook, ATensorOfItsOwnIsKeptUntilItIsCopied) {
  Packed packed{1, 2};
  detail::TorchState state(std::make_unique<ObjectsOf<Packed>>(packed));
  const auto buffers = state.save();
  const at::Tensor elsewhere = at::full({2}, 7);  // takes the memory that was freed, if it was
  ASSERT_EQ(buffers.size(), 1U);
  std::array<float, 2> copied{};
  buffers[0].copy_to(copied.data());
  EXPECT_EQ(copied, (std::array<float, 2>{1, 2}));
}

TEST(Hook, AnEmptyModuleIsAnErrorAndNoCrash) {
  std::shared_ptr<torch::nn::LinearImpl> none;
  torch::nn::Linear empty{nullptr};
  EXPECT_THROW(Record::of(none), std::exception);
  EXPECT_THROW(Record::of(empty), std::exception);
  torch::nn::Linear full(2, 2);
  EXPECT_NE(Record::of(full).restore_into(empty), std::nullopt);
}

TEST(Restore, WritesNothingUnlessAllFits) {
  Net net;
  at::Tensor extra = at::ones({2});
  const auto record = Record::of(net, extra);
  torch::nn::Linear other(5, 4);
  extra.zero_();
  const auto before = Record::of(other).digest();
  EXPECT_NE(record.restore_into(other, extra), std::nullopt);
  EXPECT_EQ(Record::of(other).digest(), before);
  EXPECT_TRUE(extra.equal(at::zeros({2})));
  EXPECT_NE(record.restore_into(net), std::nullopt);  // the record has more than the program
}

TEST(Rule03Modules, BuffersAreRestored) {
  Net net;
  const auto record = Record::of(net);
  net->forward(at::randn({8, 3}));
  EXPECT_NE(Record::of(net).digest(), record.digest());  // batch norm's running statistics
  EXPECT_EQ(record.restore_into(net), std::nullopt);
  EXPECT_EQ(Record::of(net).digest(), record.digest());
}

TEST(Rule03Modules, TrainAndEvalFlagsOfEachModule) {
  Net net;
  net->eval();
  net->dropout->train();
  const auto record = Record::of(net);
  net->train();
  EXPECT_NE(Record::of(net).digest(), record.digest());
  EXPECT_EQ(record.restore_into(net), std::nullopt);
  EXPECT_FALSE(net->is_training());
  EXPECT_FALSE(net->norm->is_training());
  EXPECT_TRUE(net->dropout->is_training());
}

TEST(Rule03Modules, RequiresGradAndDefinedGradients) {
  Net net;
  net->linear->bias.set_requires_grad(false);
  net->forward(at::randn({8, 3})).sum().backward();
  net->norm->weight.mutable_grad() = at::Tensor();
  const auto record = Record::of(net);
  net->linear->bias.set_requires_grad(true);
  net->norm->weight.mutable_grad() = at::ones({4});
  net->linear->weight.mutable_grad() = at::Tensor();
  EXPECT_EQ(record.restore_into(net), std::nullopt);
  EXPECT_FALSE(net->linear->bias.requires_grad());
  EXPECT_FALSE(net->norm->weight.grad().defined());
  EXPECT_TRUE(net->linear->weight.grad().defined());
}

TEST(Rule03Modules, GradientValuesAreNoState) {
  Net net;
  net->forward(at::randn({8, 3})).sum().backward();
  const auto before = Record::of(net).digest();
  net->linear->weight.mutable_grad().add_(1);
  EXPECT_EQ(Record::of(net).digest(), before);
}

TEST(Types, EveryStoredTypeComesBack) {
  for (auto type : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kShort,
                    at::kChar, at::kByte, at::kBool, at::kComplexFloat}) {
    at::Tensor tensor = at::arange(4).to(type);
    const at::Tensor expected = tensor.clone();
    const auto record = Record::of(tensor);
    tensor.zero_();
    EXPECT_EQ(record.restore_into(tensor), std::nullopt);
    EXPECT_TRUE(tensor.equal(expected)) << c10::toString(type);
  }
}

}  // namespace
}  // namespace flor
