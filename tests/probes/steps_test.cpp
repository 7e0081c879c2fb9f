// Which edits keep units from beginning between two steps.
#include <gtest/gtest.h>

#include "corpus.h"

namespace flor::probes {
namespace {

const std::string& program() {
  static const std::string kText = R"text(#include <flor/flor.h>
int main() {
  int64_t seen = 0;
  auto state = flor::checkpointing(net, optimizer, seen);
  for (int64_t epoch : flor::loop("epoch", 10)) {
    // top of an iteration
    if (flor::SkipBlock train{"train", net, optimizer, seen}; train.step_into()) {
      double total = 0;
      auto inside = flor::checkpointing(net, optimizer, total);
      for (auto& batch : flor::loop("step", *train_set)) {
        optimizer.zero_grad();
        auto loss = torch::nll_loss(net->forward(batch.data), batch.target);
        loss.backward();
        // behind backward
        optimizer.step();
        total += loss.item<double>();
        seen += 1;
        flor::log("loss", loss.item<double>());
      }
      flor::log("total", total);
    }
  }
}
)text";
  return kText;
}

constexpr const char* kTop = "    // top of an iteration\n";
constexpr const char* kBlockTop = "      double total = 0;\n";
constexpr const char* kStepTop = "flor::loop(\"step\", *train_set)) {\n";
constexpr const char* kInStep = "        // behind backward\n";
constexpr const char* kBehindSteps = "      flor::log(\"total\", total);\n";

ProbeAnalysis of(const std::vector<Replacement>& changes) {
  return analyse({{"/exp/train.cpp", program()}}, {{"/exp/train.cpp", edit(program(), changes)}}, {}, {});
}

void expect_parts(const std::vector<Replacement>& changes) {
  const ProbeAnalysis analysis = of(changes);
  EXPECT_FALSE(analysis.all || analysis.from_start) << analysis.reasons.front();
  EXPECT_EQ(analysis.whole_iterations, std::vector<std::string>{});
}

void expect_whole(const std::vector<Replacement>& changes, const std::string& reason) {
  const ProbeAnalysis analysis = of(changes);
  ASSERT_FALSE(analysis.whole_iterations.empty());
  EXPECT_NE(analysis.whole_iterations.front().find(reason), std::string::npos)
      << analysis.whole_iterations.front();
}

TEST(Steps, ALogOfWhatTheStepComputesLeavesParts) {
  expect_parts({insert(kInStep, "flor::log(\"x\", loss.max());")});
  expect_parts({insert(kStepTop, "flor::log(\"x\", net->weight.norm());")});
  expect_parts({insert(kBehindSteps, "flor::log(\"x\", net->weight.norm());")});
}

TEST(Steps, ALogOfWhatIsDeclaredInFrontOfThemLeavesParts) {
  expect_parts({insert(kInStep, "flor::log(\"so_far\", total);")});
}

TEST(Steps, ASumWithinAStepLeavesParts) {
  expect_parts({insert(kInStep,
                       "double sum = 0; for (auto& p : net->parameters()) sum += p.norm().item<double>(); "
                       "flor::log(\"sum\", sum);")});
}

TEST(Steps, ASumOverStepsIsInNoCheckpoint) {
  const std::vector<Replacement> sum = {insert(kBlockTop, "double sum = 0;"),
                                        insert(kInStep, "sum += loss.item<double>();"),
                                        insert(kBehindSteps, "flor::log(\"sum\", sum);")};
  expect_whole(sum, "uses sum, which steps change and no checkpoint between them holds");
  EXPECT_EQ(of(sum).blocks, std::set<std::string>{"train"});
  EXPECT_TRUE(of(sum).lead_in.empty());
}

TEST(Steps, WhatOnlyTheMainLoopsCheckpointsHoldIsInNoneBetweenSteps) {
  expect_whole({insert(kInStep, "flor::log(\"seen\", seen);")}, "uses seen");
  expect_whole({insert(kBehindSteps, "flor::log(\"seen\", seen);")}, "uses seen");
}

TEST(Steps, WhatIsComputedFromSuchAVariableIsInNoneEither) {
  const std::string recorded = edit(program(), {insert(kInStep, "const double mean = seen * 0.5;")});
  const std::string present =
      edit(recorded,
           {{"        optimizer.step();\n", "        optimizer.step();\n        flor::log(\"m\", mean);\n"}});
  EXPECT_FALSE(analyse({{"/exp/train.cpp", recorded}}, {{"/exp/train.cpp", present}}, {}, {})
                   .whole_iterations.empty());
}

TEST(Steps, OfAMemberThatIsGivenTheObjectIsNot) {
  const std::string recorded =
      edit(program(), {{"flor::checkpointing(net, optimizer, total)", "flor::checkpointing(net, run.loss)"},
                       {"total += loss", "run.total += loss"}});
  const std::string present = edit(recorded, {insert(kInStep, "flor::log(\"t\", run.total);")});
  EXPECT_FALSE(analyse({{"/exp/train.cpp", recorded}}, {{"/exp/train.cpp", present}}, {}, {})
                   .whole_iterations.empty());
}

TEST(Steps, OfALoopInAFunctionOfItsOwn) {
  const std::string recorded =
      "#include <flor/flor.h>\n"
      "void train(Net& net) {\n"
      "  if (flor::SkipBlock train{\"train\", net}; train.step_into()) {\n"
      "    double total = 0;\n"
      "    auto inside = flor::checkpointing(net);\n"
      "    for (int64_t step : flor::loop(\"step\", 9)) {\n"
      "      total += fit(net);\n"
      "    }\n"
      "  }\n"
      "}\n";
  const std::string present =
      edit(recorded, {insert("      total += fit(net);\n", "flor::log(\"t\", total);")});
  const ProbeAnalysis analysis =
      analyse({{"/exp/train.cpp", recorded}}, {{"/exp/train.cpp", present}}, {}, {});
  EXPECT_TRUE(analysis.all || !analysis.whole_iterations.empty());
}

TEST(Steps, GradientsOfTheStepLeaveParts) {
  expect_parts({insert(kInStep, "flor::log(\"g\", net->weight.grad().norm());")});
  expect_parts({insert(kInStep, "if (epoch > 3) { flor::log(\"g\", net->weight.grad().norm()); }")});
  expect_parts({insert(kBehindSteps, "flor::log(\"g\", net->weight.grad().norm());")});
}

// The first step of a unit would log gradients that nobody computed in its process.
TEST(Steps, GradientsOfTheStepBeforeAreInNoCheckpoint) {
  const std::vector<Replacement> top = {insert(kStepTop, "flor::log(\"g\", net->weight.grad().norm());")};
  expect_whole(top, "reads gradients that the step before may have left");
  EXPECT_TRUE(of(top).all && of(top).from_start) << "the first step reads those of the epoch before";
  EXPECT_TRUE(of({{"        loss.backward();\n", "        if (epoch > 1) loss.backward();\n"},
                  insert(kInStep, "flor::log(\"g\", net->weight.grad().norm());")})
                  .all);
  EXPECT_TRUE(of({insert(kTop, "flor::log(\"g\", net->weight.grad().norm());")}).from_start);
}

// With its loop written in another way, any loop inside of another may be the one over steps.
TEST(Steps, OfALoopThatCannotBeTold) {
  const Replacement named = {"(auto& batch : flor::loop(\"step\", *train_set))", "(auto& batch : steps)"};
  const std::string recorded = edit(program(), {named});
  const std::string present = edit(recorded, {insert(kInStep, "flor::log(\"seen\", seen);")});
  EXPECT_FALSE(analyse({{"/exp/train.cpp", recorded}}, {{"/exp/train.cpp", present}}, {}, {})
                   .whole_iterations.empty());
}

}  // namespace
}  // namespace flor::probes
