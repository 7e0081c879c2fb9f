// What `flor probes` and the warnings at record say. What a user types is tested in
// tests/rules/unheld_rules.py.
#include <gtest/gtest.h>

#include <fstream>

#include "commands/sources/probes_report.h"
#include "commands/sources/source_files.h"
#include "commands/sources/unheld.h"
#include "core/base/error.h"
#include "support/temporary.h"

namespace flor::commands {
namespace {

namespace fs = std::filesystem;

const char* const recorded = R"(#include <flor/flor.h>

struct Meter {
  double sum = 0;
  int n = 0;
  void update(double x) { sum += x; ++n; }
};

int main() {
  Net net(10);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  Meter meter;
  double best = 100;
  auto state = flor::checkpointing(net, optimizer);
  for (int64_t epoch : flor::loop("epoch", 6)) {
    if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
      auto loss = torch::mse_loss(net->forward(input), target);
      loss.backward();
      optimizer.step();
      meter.update(loss.item<double>());
    }
    // here
    const double score = net->weight.norm().item<double>();
    if (score < best) best = score;
  }
}
)";

std::string with(const std::string& text, const std::string& place, const std::string& line) {
  std::string out = text;
  return out.insert(out.find(place), line);
}

SourceFiles file(const std::string& text) {
  return {{{"/exp/train.cpp", text}}, {}};
}

probes::ProbeAnalysis sample() {
  probes::ProbeAnalysis analysis;
  analysis.blocks = {"train"};
  analysis.reasons = {"train.cpp:34: log added inside block train: it executes"};
  analysis.logs = {{"grad_norm",
                    "/exp/train.cpp",
                    34,
                    "train",
                    {{"net", true, "block train holds it"},
                     {"epoch", true, "the variable of a flor::loop"},
                     {"net.weight", true, "block train holds it"}},
                    {"train"}},
                   {"mean",
                    "/exp/train.cpp",
                    40,
                    "",
                    {{"meter", false, "block train changes it (train.cpp:31) and does not hold it"}},
                    {"train"}}};
  return analysis;
}

TEST(ProbesText, SaysOfEachProbeWhatExecutesAndWhatItReads) {
  EXPECT_EQ(text_of(sample()),
            "2 probes: block train executes, all others are skipped\n"
            "\n"
            "train.cpp:34 grad_norm: block train executes\n"
            "  held      epoch: the variable of a flor::loop\n"
            "  held      net, net.weight: block train holds it\n"
            "\n"
            "train.cpp:40 mean: block train executes\n"
            "  not held  meter: block train changes it (train.cpp:31) and does not hold it\n"
            "\n"
            "why:\n"
            "  train.cpp:34: log added inside block train: it executes\n");
}

TEST(ProbesText, OfNothing) {
  EXPECT_EQ(text_of(probes::ProbeAnalysis{}), "no probe was added: no block executes\n");
}

TEST(ProbesText, OfAProbeThatOnlyReadsWhatIsHeld) {
  probes::ProbeAnalysis analysis = sample();
  analysis.logs.erase(analysis.logs.begin() + 1);
  analysis.logs[0].block = "";
  EXPECT_EQ(text_of(analysis, analysis.logs[0]).substr(0, 43),
            "train.cpp:34 grad_norm: no block executes\n ");
  analysis.all = true;
  EXPECT_EQ(text_of(analysis, analysis.logs[0]).substr(0, 46),
            "train.cpp:34 grad_norm: every block executes\n ");
  EXPECT_EQ(text_of(analysis).substr(0, 29), "1 probe: every block executes");
}

TEST(ProbesText, OfRowsThatAreNotGiven) {
  probes::AddedLog log{"seconds", "/exp/train.cpp", 40, ""};
  log.withheld = "reads now (train.cpp:12) across skipped blocks";
  EXPECT_EQ(
      text_of({}, log),
      "train.cpp:40 seconds: its rows are not given, it reads now (train.cpp:12) across skipped blocks\n");
}

TEST(ProbesText, OfWhatExecutesInFrontOfUnits) {
  probes::ProbeAnalysis analysis = sample();
  analysis.blocks = {"eval", "train"};
  analysis.lead_in = {"train"};
  analysis.from_start = true;
  const std::string text = text_of(analysis);
  EXPECT_EQ(
      text.substr(0, text.find("\n\n")),
      "2 probes: blocks eval, train execute, all others are skipped; in front of a unit that is entered by\n"
      "  pseudoresume, train executes, too; the program runs from its start, whatever the checkpoints are");
}

TEST(ProbesText, OfAPlan) {
  core::Plan plan;
  plan.execute = {"train"};
  plan.probes = {{"mean", "/exp/train.cpp", 40, ""}};
  plan.probes[0].inputs = {{"meter", false, "block train changes it (train.cpp:31) and does not hold it"}};
  plan.probes[0].depends = {"train"};
  const probes::ProbeAnalysis analysis = analysis_of(plan);
  EXPECT_EQ(text_of(analysis, analysis.logs.at(0), 2),
            "  train.cpp:40 mean: block train executes\n"
            "    not held  meter: block train changes it (train.cpp:31) and does not hold it\n");
}

TEST(ProbesJson, HasTheseKeys) {
  probes::ProbeAnalysis analysis = sample();
  auto& inputs = analysis.logs[0].inputs;
  inputs.push_back(inputs[0]);  // another variable of that name
  analysis.logs[1].withheld = "reads now";
  EXPECT_EQ(to_json(analysis), core::Json::parse(R"({
    "all": false, "execute": ["train"], "lead_in": [], "from_start": false,
    "probes": [
      {"name": "grad_norm", "file": "/exp/train.cpp", "line": 34, "block": "train", "inputs": [
        {"name": "net", "held": true, "why": "block train holds it"},
        {"name": "epoch", "held": true, "why": "the variable of a flor::loop"},
        {"name": "net.weight", "held": true, "why": "block train holds it"}], "withheld": ""},
      {"name": "mean", "file": "/exp/train.cpp", "line": 40, "block": "", "inputs": [
        {"name": "meter", "held": false, "why": "block train changes it (train.cpp:31) and does not hold it"}],
       "withheld": "reads now"}],
    "reasons": ["train.cpp:34: log added inside block train: it executes"]})"));
}

TEST(Decide, ReadsBothSides) {
  const auto present = file(with(recorded, "    // here", "    flor::log(\"n\", meter.n);\n"));
  const probes::ProbeAnalysis analysis = decide(file(recorded), present);
  EXPECT_EQ(analysis.blocks, std::set<std::string>{"train"});
  EXPECT_TRUE(analysis.from_start);
  ASSERT_EQ(analysis.logs.size(), 1U);
  const std::string text = text_of(analysis, analysis.logs[0]);
  EXPECT_EQ(text.substr(0, text.find('\n')), "train.cpp:22 n: block train executes");
  EXPECT_NE(text.find("block train changes it (train.cpp:20) and does not hold it\n"), std::string::npos)
      << text;
  EXPECT_TRUE(decide(file(recorded), file(recorded)).blocks.empty());
}

TEST(SourcesAt, TakesCppFilesByTheirPathInTheFolder) {
  const test::TemporaryDirectory temporary;
  const fs::path root = temporary.path();
  for (const char* folder : {"a/b", ".git", "build"}) fs::create_directories(root / folder);
  for (const char* name : {"train.cpp", "a/net.h", "a/b/k.cu", "a/notes.txt", ".git/old.cpp", "build/id.cpp",
                           "build/CMakeCache.txt", "x.cc", "x.cxx", "x.hpp", "x.cuh", "x.py"})
    std::ofstream(root / name) << name;
  std::vector<std::string> paths;
  for (const auto& one : sources_at(root).files) {
    EXPECT_EQ(one.text, one.path);
    paths.push_back(one.path);
  }
  EXPECT_EQ(paths, (std::vector<std::string>{"a/b/k.cu", "a/net.h", "train.cpp", "x.cc", "x.cuh", "x.cxx",
                                             "x.hpp"}));
  EXPECT_EQ(sources_at(root / "a" / "notes.txt").files.at(0).path, "notes.txt");
  EXPECT_THROW(sources_at(root / "nothing"), core::UsageError);
  fs::create_directory(root / "empty");
  EXPECT_THROW(sources_at(root / "empty"), core::UsageError);
}

TEST(UnheldWarnings, NameVariablesWithFileAndLine) {
  const std::vector<probes::Unheld> all = unheld_in(file(recorded));
  EXPECT_EQ(
      warnings_of(all, "RUN"),
      (std::vector<std::string>{
          "the main loop carries best (train.cpp:24) and flor::checkpointing does not hold it: a later "
          "question about it runs the program from its start",
          "block train changes meter.sum (train.cpp:20) and neither it nor flor::checkpointing holds it: a "
          "later question about it runs the program from its start",
          "block train changes meter.n (train.cpp:20) and neither it nor flor::checkpointing holds it: a "
          "later question about it runs the program from its start"}));
  EXPECT_EQ(to_json(all).at(0),
            core::Json::parse(R"({"block": "train", "name": "meter.sum", "file": "train.cpp", "line": 20})"));
}

TEST(UnheldWarnings, AreOfTheBlockAloneWithoutAGuard) {
  std::string text = recorded;
  const std::string guard = "  auto state = flor::checkpointing(net, optimizer);\n";
  text.erase(text.find(guard), guard.size());
  EXPECT_EQ(
      warnings_of(unheld_in(file(text)), "RUN").at(0),
      "block train changes meter.sum (train.cpp:19) and does not hold it: a later question about it executes "
      "the block");
}

TEST(UnheldWarnings, AreNotOfMembersThatAHookHolds) {
  std::string text = with(recorded, "int main",
                          "void flor_state(flor::Archive& archive, Meter& meter) {\n"
                          "  archive(\"sum\", meter.sum);\n"
                          "  archive(\"n\", meter.n);\n"
                          "}\n");
  text = with(text, "}; train.step_into", ", meter");
  text = with(text, ");\n  for (int64_t epoch", ", meter, best");
  EXPECT_EQ(warnings_of(unheld_in(file(text)), "RUN"), std::vector<std::string>{});
}

TEST(UnheldWarnings, AreNotOfPartsOfAModuleNorOfProgramsThatCannotBeRead) {
  EXPECT_TRUE(unheld_in(file("int main() { if (SkipBlock b{\"train\"}; b.step_into()) x = 1; }")).empty());
  const std::string module =
      "struct NetImpl : torch::nn::Module {\n"
      "  torch::Tensor forward(torch::Tensor x) { return layer->forward(x); }\n"
      "  torch::nn::Linear layer = register_module(\"layer\", torch::nn::Linear(1, 1));\n"
      "};\n";
  std::string text = with(recorded, "int main", module);
  for (const probes::Unheld& one : unheld_in(file(text)))
    EXPECT_EQ(one.name.find("layer"), std::string::npos);
}

TEST(UnheldWarnings, AreTenAtMost) {
  std::vector<probes::Unheld> all;
  for (int k = 0; k < 14; ++k) all.push_back({"train", "meter" + std::to_string(k), "train.cpp", k});
  const auto lines = warnings_of(all, "baseline");
  ASSERT_EQ(lines.size(), 11U);
  EXPECT_EQ(lines[9].substr(0, 26), "block train changes meter9");
  EXPECT_EQ(lines[10], "… and 4 more (flor show baseline)");
  all.resize(10);
  EXPECT_EQ(warnings_of(all, "baseline").size(), 10U);
}

}  // namespace
}  // namespace flor::commands
