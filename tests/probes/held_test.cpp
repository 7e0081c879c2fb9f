// Which changes of a block its arguments hold: a probe of another one makes it execute.
#include <gtest/gtest.h>

#include "corpus.h"

namespace flor::probes {
namespace {

// `probe` reads what `change` in the block changes; does the block stay skipped?
bool stays_skipped(const std::string& argument, const std::string& change, const std::string& probe) {
  const std::string recorded =
      "#include <flor/flor.h>\n"
      "struct Part { double n = 0; double m = 0; };\n"
      "struct Stats { Part part; double sum = 0; std::vector<double> all; };\n"
      "int main() {\n"
      "  Net net;\n  Stats a;\n  double x = 0, y = 0;\n  std::vector<double> list(9);\n"
      "  torch::Tensor t = torch::zeros({9});\n"
      "  for (int64_t epoch : flor::loop(\"epoch\", 10)) {\n"
      "    if (flor::SkipBlock train{\"train\", net, " +
      argument + "}; train.step_into()) {\n      " + change +
      ";\n    }\n    double mean = x / 10;\n    // behind\n  }\n}\n";
  const std::string present = edit(recorded, {insert("    // behind\n", "flor::log(\"p\", " + probe + ");")});
  const ProbeAnalysis analysis =
      analyse({{"/exp/train.cpp", recorded}}, {{"/exp/train.cpp", present}}, {}, {});
  return !analysis.all && analysis.blocks.empty();
}

TEST(Held, AnArgumentIs) {
  EXPECT_TRUE(stays_skipped("x", "x += 1", "x"));
  EXPECT_TRUE(stays_skipped("x", "x = 3", "x * 2"));
  EXPECT_TRUE(stays_skipped("list", "list.push_back(1)", "list.back()"));
  EXPECT_TRUE(stays_skipped("list", "list[3] = 1", "list[3]"));
  EXPECT_TRUE(stays_skipped("t", "t.add_(1)", "t.sum().item<double>()"));
  EXPECT_TRUE(stays_skipped("t", "auto row = t[3]; row += 1", "t[3].item<double>()"));
  EXPECT_TRUE(stays_skipped("a.sum", "a.sum += 1", "a.sum"));
}

TEST(Held, WhatIsNoArgumentIsNot) {
  EXPECT_FALSE(stays_skipped("y", "x += 1", "x"));
  EXPECT_FALSE(stays_skipped("y", "++x", "x"));
  EXPECT_FALSE(stays_skipped("y", "list.push_back(1)", "list.size()"));
  EXPECT_FALSE(stays_skipped("y", "t.add_(1)", "t.sum().item<double>()"));
  EXPECT_FALSE(stays_skipped("y", "t[0] = 1", "t.sum().item<double>()"));
  EXPECT_FALSE(stays_skipped("y", "std::swap(x, y)", "x"));
  EXPECT_FALSE(stays_skipped("y", "std::tie(x, y) = pair()", "x"));
  EXPECT_FALSE(stays_skipped("y", "unknown(x)", "x"));
}

TEST(Held, WhatTheBlockWritesThroughPointersIsNot) {
  EXPECT_FALSE(stays_skipped("y", "t.data_ptr<float>()[0] = 1", "t.sum().item<double>()"));
  EXPECT_FALSE(stays_skipped("y", "float* p = t.data_ptr<float>(); *p = 1", "t.sum().item<double>()"));
  EXPECT_FALSE(stays_skipped("y", "auto p = t.data_ptr<float>(); p[3] = 1", "t.sum().item<double>()"));
  EXPECT_FALSE(stays_skipped("y", "std::fill_n(t.data_ptr<float>(), 2, 0.F)", "t.sum().item<double>()"));
  EXPECT_TRUE(stays_skipped("y", "y = t.data_ptr<float>()[0]", "t.sum().item<double>()"));
}

// `change` in a block that does not hold the net; does a probe of the net leave the block skipped?
bool net_stays_skipped(const std::string& change, const std::string& probe) {
  const std::string recorded =
      "#include <flor/flor.h>\n"
      "struct NetImpl : torch::nn::Module {\n"
      "  NetImpl() : fc(register_module(\"fc\", torch::nn::Linear(2, 2))) {}\n"
      "  torch::nn::Linear fc;\n  int64_t calls = 0;\n};\nTORCH_MODULE(Net);\n"
      "int main() {\n  Net net;\n  auto t = torch::ones({2});\n"
      "  for (int64_t epoch : flor::loop(\"epoch\", 10)) {\n"
      "    if (flor::SkipBlock train{\"train\", t}; train.step_into()) {\n      " +
      change + ";\n    }\n    // behind\n  }\n}\n";
  const std::string present = edit(recorded, {insert("    // behind\n", "flor::log(\"p\", " + probe + ");")});
  const ProbeAnalysis analysis =
      analyse({{"/exp/train.cpp", recorded}}, {{"/exp/train.cpp", present}}, {}, {});
  return !analysis.all && analysis.blocks.empty();
}

TEST(Held, AParameterThatIsChangedByItsNameIsAmongTheParameters) {
  const std::string all = "net->parameters()[0].norm().item<double>()";
  EXPECT_FALSE(net_stays_skipped("net->fc->weight.zero_()", all));
  EXPECT_FALSE(net_stays_skipped("torch::nn::init::zeros_(net->fc->weight)", all));
  EXPECT_FALSE(net_stays_skipped("net->fc->weight.zero_()", "net->fc->parameters()[0].sum().item<double>()"));
  EXPECT_TRUE(net_stays_skipped("++net->calls", all));
}

TEST(Held, WhatAFileIsReadIntoIsNot) {
  EXPECT_FALSE(stays_skipped("y", "std::fscanf(file, \"%lf\", &x)", "x"));
  EXPECT_FALSE(stays_skipped("y", "fread(list.data(), 8, 9, file)", "list[0]"));
  EXPECT_FALSE(stays_skipped("y", "std::fread(t.data_ptr<float>(), 4, 9, file)", "t.sum().item<double>()"));
}

TEST(Held, WhatTheBlockOnlyReadsIs) {
  EXPECT_TRUE(stays_skipped("y", "y = x", "x"));
  EXPECT_TRUE(stays_skipped("y", "y = std::max(x, 3.0)", "x"));
  EXPECT_TRUE(stays_skipped("y", "y = t.sum().item<double>()", "t.norm().item<double>()"));
}

TEST(Held, AMemberIsWithoutItsSiblings) {
  EXPECT_TRUE(stays_skipped("y", "a.sum += 1", "a.part.n"));
  EXPECT_FALSE(stays_skipped("y", "a.sum += 1", "a.sum"));
  EXPECT_FALSE(stays_skipped("y", "a.part.n += 1", "a.part.n"));
  EXPECT_FALSE(stays_skipped("a.sum", "a.part.n += 1", "a.part.n"));
}

TEST(Held, AReferenceStandsForWhatItIsBoundTo) {
  EXPECT_FALSE(stays_skipped("y", "auto& s = a.part; s.n += 1", "a.part.n"));
  EXPECT_FALSE(stays_skipped("y", "double* p = &x; *p = 1", "x"));
  EXPECT_FALSE(stays_skipped("y", "for (auto& one : list) one += 1", "list[0]"));
  EXPECT_FALSE(stays_skipped("y", "auto& [part, sum, all] = a; sum += 1", "a.sum"));
  EXPECT_FALSE(stays_skipped("y", "auto row = t[3]; row += 1", "t.sum().item<double>()"));
  EXPECT_FALSE(stays_skipped("y", "auto bump = [&] { ++x; }; bump()", "x"));
  EXPECT_TRUE(stays_skipped("y", "auto copy = x; copy += 1", "x"));
  EXPECT_TRUE(stays_skipped("y", "auto fresh = t.clone(); fresh.add_(1)", "t.sum().item<double>()"));
}

TEST(Held, ANameOfAnInnerScopeHidesNothingBehindIt) {
  EXPECT_FALSE(stays_skipped("y", "{ double x = 0; } x = 1", "x"));
  EXPECT_TRUE(stays_skipped("y", "double x = 0; { x = 1; }", "x"));
  EXPECT_TRUE(stays_skipped("y", "for (int x = 0; x < 3; ++x) { x += 1; }", "x"));
}

TEST(Held, WhatIsComputedFromAStaleVariableIsStale) {
  EXPECT_FALSE(stays_skipped("y", "x += 1", "mean"));
  EXPECT_TRUE(stays_skipped("x", "x += 1", "mean"));
}

}  // namespace
}  // namespace flor::probes
