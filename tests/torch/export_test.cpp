// flor export --format pt, read by LibTorch itself.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <fstream>
#include <iterator>

#include "export/pytorch.h"
#include "objects.h"
#include "support/temporary.h"

namespace flor {
namespace {

TEST(ExportedFile, IsADictOfTensorsForLibTorch) {
  const test::TemporaryDirectory directory;
  const std::vector<torch::Tensor> tensors{torch::arange(6, torch::kFloat).reshape({2, 3}),
                                           torch::tensor(0.25, torch::kDouble),
                                           torch::arange(5, torch::kLong) - 2,
                                           torch::ones({3}, torch::kBool),
                                           torch::full({2, 2}, 1.5, torch::kBFloat16),
                                           torch::full({7}, -2.0, torch::kHalf),
                                           torch::empty({0, 4}, torch::kFloat),
                                           torch::arange(100000, torch::kInt)};
  const std::vector<std::string> dtypes{"F32", "F64", "I64", "BOOL", "BF16", "F16", "F32", "I32"};
  core::LoadedTensors loaded;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    loaded["0.tensor" + std::to_string(i)] = {dtypes[i], tensors[i].sizes().vec(),
                                              static_cast<const unsigned char*>(tensors[i].data_ptr()),
                                              tensors[i].nbytes()};
  }
  exporting::write_pytorch(directory / "out.pt", loaded);

  std::ifstream in(directory / "out.pt", std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto dict = torch::pickle_load(bytes).toGenericDict();
  ASSERT_EQ(dict.size(), tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const torch::Tensor read = dict.at("0.tensor" + std::to_string(i)).toTensor();
    EXPECT_EQ(read.dtype(), tensors[i].dtype()) << i;
    EXPECT_TRUE(torch::equal(read, tensors[i])) << i;
    EXPECT_FALSE(read.requires_grad());
  }
}

struct Spectrum : torch::nn::Module {
  torch::Tensor weight =
      register_parameter("weight", torch::tensor({{1.5, -2.0}, {0.0, 3.0}}, torch::kFloat));
  torch::Tensor filter = register_buffer("filter", torch::view_as_complex(weight.detach().clone()));
};

// A file of a module's checkpoint, from the objects to LibTorch's reader.
TEST(ExportedFile, HasComplexNumbersWhereTheModuleHas) {
  const test::TemporaryDirectory directory;
  auto net = std::make_shared<Spectrum>();
  const auto record = test::Record::of(net);
  exporting::write_pytorch(directory / "out.pt", record.tensors());
  std::ifstream in(directory / "out.pt", std::ios::binary);
  const std::vector<char> file((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto dict = torch::pickle_load(file).toGenericDict();
  EXPECT_TRUE(torch::equal(dict.at("0.filter").toTensor(), net->filter));
  EXPECT_TRUE(torch::equal(dict.at("0.weight").toTensor(), net->weight));
}

}  // namespace
}  // namespace flor
