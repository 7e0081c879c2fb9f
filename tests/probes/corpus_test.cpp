#include "corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace flor::probes {

const char* const kBeforeLoop = "  int64_t seen = 0;\n";
const char* const kLoopTop = "    net->train();\n";
const char* const kInTrain = "        optimizer.step();\n";
const char* const kInInner = "          running = running * 0.9 + 0.1 * loss.item<double>();\n";
const char* const kBehindTrain = "    scheduler.step();\n";
const char* const kInCondition = "      save(net, epoch);\n";
const char* const kBehindLoop = "  torch::save(net, \"net.pt\");\n";

const std::string& model_h() {
  static const std::string kText = R"text(#pragma once
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  NetImpl() : fc1(register_module("fc1", torch::nn::Linear(784, 128))), width{128} {}
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(fc1->forward(x));
    return x;
  }
  torch::nn::Linear fc1{nullptr};
  int width;
};
TORCH_MODULE(Net);
)text";
  return kText;
}

const std::string& train_cpp() {
  static const std::string kText = R"text(// Trains a small network.
#include <flor/flor.h>
#include <torch/torch.h>

#include "model.h"

#define CHECKED(x) check(x, #x)
constexpr int64_t kBatch = 1'000;

template <typename Loader>
double evaluate(Net& net, Loader& loader) {
  torch::NoGradGuard guard;
  net->eval();
  double correct = 0;
  for (const auto& batch : loader) {
    auto output = net->forward(batch.data);
    correct += output.argmax(1).eq(batch.target).sum().template item<double>();
  }
  net->train();
  return correct;
}

void save(const Net& net, int64_t epoch) {
  if (epoch == 0) return;
  torch::save(net, "epoch_{.pt");
}

double fit(Net& net, torch::optim::SGD& sgd) {
  sgd.step();
  return 0.5;
}

int main(int argc, char** argv) {
  const int64_t epochs = argc > 1 ? std::stoll(argv[1]) : 10;
  Net net;
  auto train_set = data::mnist("train");
  auto test_set = data::mnist("test");
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  torch::optim::StepLR scheduler(optimizer, 10, 0.5);
  auto state = flor::checkpointing(net, optimizer);
  double running = 0;
  int64_t seen = 0;
  for (int64_t epoch : flor::loop("epoch", epochs)) {
    net->train();
    if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
      for (auto& batch : *train_set) {
        optimizer.zero_grad();
        auto loss = torch::nll_loss(net->forward(batch.data), batch.target);
        loss.backward();
        optimizer.step();
        seen += kBatch;
        if (flor::SkipBlock inner{"inner", running}; inner.step_into()) {
          running = running * 0.9 + 0.1 * loss.item<double>();
        }
        flor::log("loss", loss.item<double>());
      }
    }
    scheduler.step();
    flor::log("accuracy", evaluate(net, *test_set));
    if (epoch % 5 == 4) {
      save(net, epoch);
    }
  }
  torch::save(net, "net.pt");
  return 0;
}
)text";
  return kText;
}

std::string edit(std::string text, const std::vector<Replacement>& changes) {
  for (const Replacement& change : changes) {
    const size_t at = text.find(change.from);
    if (at == std::string::npos) throw std::logic_error("not in the text: " + change.from);
    if (text.find(change.from, at + 1) != std::string::npos) throw std::logic_error("twice: " + change.from);
    text.replace(at, change.from.size(), change.to);
  }
  return text;
}

Replacement insert(const std::string& place, const std::string& code) {
  return {place, place + code + "\n"};
}

Expected everything(std::string reason, std::vector<std::string> logs) {
  return {true, {}, std::move(logs), std::move(reason)};
}
Expected executes(std::vector<std::string> blocks, std::vector<std::string> logs, std::string reason) {
  return {false, std::move(blocks), std::move(logs), std::move(reason)};
}
Expected nothing(std::vector<std::string> logs, std::string reason) {
  return {false, {}, std::move(logs), std::move(reason)};
}

namespace {

Case make(std::string name, std::vector<SourceFile> recorded, std::vector<SourceFile> present,
          Expected expected) {
  Case c;
  c.name = std::move(name);
  c.recorded = std::move(recorded);
  c.present = std::move(present);
  c.all = expected.all;
  c.blocks = std::move(expected.blocks);
  c.logs = std::move(expected.logs);
  c.reason = std::move(expected.reason);
  return c;
}

}  // namespace

Case edited(std::string name, const std::vector<Replacement>& changes, Expected expected) {
  const SourceFile model{"/exp/model.h", model_h()};
  return make(std::move(name), {{"/exp/train.cpp", train_cpp()}, model},
              {{"/exp/train.cpp", edit(train_cpp(), changes)}, model}, std::move(expected));
}

Case program(std::string name, const std::string& recorded, const std::string& present, Expected expected) {
  return make(std::move(name), {{"/exp/train.cpp", recorded}}, {{"/exp/train.cpp", present}},
              std::move(expected));
}

namespace {

class Corpus : public testing::TestWithParam<Case> {};

TEST_P(Corpus, LeadsToTheDecision) {
  const Case& c = GetParam();
  const ProbeAnalysis analysis = analyse(c.recorded, c.present, c.unresolved_recorded, c.unresolved_present);
  std::string reasons;
  for (const std::string& reason : analysis.reasons) reasons += reason + "\n";
  SCOPED_TRACE(reasons);
  EXPECT_EQ(analysis.all, c.all);
  if (!c.all) {
    EXPECT_EQ(std::vector<std::string>(analysis.blocks.begin(), analysis.blocks.end()), c.blocks);
  }
  for (const std::string& block : analysis.lead_in) EXPECT_EQ(analysis.blocks.count(block), 1U) << block;
  std::vector<std::string> logs;
  for (const AddedLog& log : analysis.logs) logs.push_back(log.name + "@" + log.block);
  EXPECT_EQ(logs, c.logs);
  EXPECT_NE(reasons.find(c.reason), std::string::npos) << c.reason;
  if (c.all || !c.blocks.empty()) {
    EXPECT_FALSE(reasons.empty());
  }
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Logs, Corpus, testing::ValuesIn(log_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Edits, Corpus, testing::ValuesIn(edit_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Shapes, Corpus, testing::ValuesIn(shape_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Files, Corpus, testing::ValuesIn(file_cases()), case_name);

TEST(Analyse, SaysWhereInThePresentFile) {
  const std::string present =
      edit(train_cpp(), {{"#include <torch/torch.h>\n", "#include <torch/torch.h>\n\n\n"},
                         insert(kInTrain, "flor::log(\"x\", loss.max());")});
  const ProbeAnalysis analysis =
      analyse({{"/a/train.cpp", train_cpp()}}, {{"/b/train.cpp", present}}, {}, {});
  ASSERT_EQ(analysis.logs.size(), 1U);
  const auto head = present.begin();
  const auto at = head + static_cast<std::ptrdiff_t>(present.find("flor::log(\"x\""));
  EXPECT_EQ(analysis.logs[0].line, 1 + std::count(head, at, '\n'));
  EXPECT_EQ(analysis.logs[0].file, "/b/train.cpp");
  const std::string where = "train.cpp:" + std::to_string(analysis.logs[0].line);
  ASSERT_FALSE(analysis.reasons.empty());
  EXPECT_EQ(analysis.reasons[0], where + ": log added inside block train: it executes");
}

}  // namespace
}  // namespace flor::probes
