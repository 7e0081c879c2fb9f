#include "changed.h"

#include <gtest/gtest.h>

#include "corpus.h"

namespace flor::probes {
namespace {

std::string text(const ChangedProgram& of) {
  return of.types + " | " + of.variables + " | " + of.change + " | " + of.probe;
}

}  // namespace

bool stays_skipped(const ChangedProgram& of) {
  const std::string recorded =
      "#include <flor/flor.h>\n"
      "struct NetImpl : torch::nn::Module {\n"
      "  NetImpl() : fc(register_module(\"fc\", torch::nn::Linear(2, 2))) {}\n"
      "  torch::Tensor forward(torch::Tensor x) { return fc->forward(x); }\n"
      "  int64_t& count() { return calls; }\n"
      "  torch::nn::Linear fc;\n  int64_t calls = 0;\n  std::vector<double> list;\n"
      "};\nTORCH_MODULE(Net);\n" +
      of.types + "\nint main() {\n  Net net;\n  torch::optim::SGD optimizer(net->parameters(), 0.1);\n  " +
      of.variables +
      "\n  for (int64_t epoch : flor::loop(\"epoch\", 10)) {\n"
      "    if (flor::SkipBlock train{\"train\", net, optimizer}; train.step_into()) {\n"
      "      net->forward(torch::rand({2, 2})).mean().backward();\n      optimizer.step();\n      " +
      of.change + "\n    }\n    // behind\n  }\n}\n";
  const std::string present =
      edit(recorded, {insert("    // behind\n", "flor::log(\"p\", " + of.probe + ");")});
  const ProbeAnalysis analysis =
      analyse({{"/exp/train.cpp", recorded}}, {{"/exp/train.cpp", present}}, {}, {});
  return !analysis.all && analysis.blocks.empty();
}

void expect_executed(const std::vector<ChangedProgram>& programs) {
  for (const ChangedProgram& one : programs) EXPECT_FALSE(stays_skipped(one)) << text(one);
}

void expect_skipped(const std::vector<ChangedProgram>& programs) {
  for (const ChangedProgram& one : programs) EXPECT_TRUE(stays_skipped(one)) << text(one);
}

}  // namespace flor::probes
