// Damaged programs must end in an answer, never in a crash. Seeds are fixed: a failure comes again.
#include <gtest/gtest.h>

#include <random>

#include "corpus.h"
#include "probes/cxx/log_calls.h"

namespace flor::probes {
namespace {

ProbeAnalysis against_recorded(const std::string& text) {
  const SourceFile model{"/exp/model.h", model_h()};
  const std::vector<SourceFile> recorded = {{"/exp/train.cpp", train_cpp()}, model};
  const std::vector<SourceFile> present = {{"/exp/train.cpp", text}, model};
  ProbeAnalysis analysis = analyse(recorded, present, {}, {});
  const ProbeAnalysis backwards = analyse(present, recorded, {}, {});
  EXPECT_TRUE(!backwards.all || !backwards.reasons.empty());
  return analysis;
}

TEST(Fuzz, DeletedBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 150; ++round) {
    std::string text = train_cpp();
    for (int cuts = 1 + round % 4; cuts > 0; --cuts) text.erase(random() % text.size(), 1 + random() % 9);
    const ProbeAnalysis analysis = against_recorded(text);
    EXPECT_TRUE(!analysis.all || !analysis.reasons.empty());
  }
}

TEST(Fuzz, InsertedBytes) {
  const std::string kinds = "{}()[];\"'\\#/*<>:=,\nR%";
  std::mt19937 random(11);
  for (int round = 0; round < 150; ++round) {
    std::string text = train_cpp();
    for (int i = 1 + round % 4; i > 0; --i)
      text.insert(random() % text.size(), 1, kinds[random() % kinds.size()]);
    const ProbeAnalysis analysis = against_recorded(text);
    EXPECT_TRUE(!analysis.all || !analysis.reasons.empty());
  }
}

TEST(Fuzz, CutShort) {
  for (size_t length = 0; length < train_cpp().size(); length += 29) {
    EXPECT_TRUE(against_recorded(train_cpp().substr(0, length)).all);
  }
}

std::string joined(const std::vector<Token>& tokens) {
  std::string text;
  for (const Token& token : tokens) {
    const bool line = token.kind == TokenKind::kDirective;
    text += (line ? "\n" : "") + token.text + (line ? "\n" : " ");
  }
  return text;
}

// No edit outside of log statements may pass as a probe.
TEST(Fuzz, EveryTokenMatters) {
  const Tree tree = parse(train_cpp());
  std::vector<bool> logs(tree.tokens.size(), false);
  for (const LogCall& log : log_calls(tree, 0, tree.tokens.size(), false)) {
    for (size_t i = log.at; i <= tree.match[log.open] + 1; ++i) logs[i] = true;
  }
  const std::string recorded = joined(tree.tokens);
  const auto decides_all = [&](const std::vector<Token>& tokens) {
    return analyse({{"/exp/train.cpp", recorded}}, {{"/exp/train.cpp", joined(tokens)}}, {}, {}).all;
  };
  for (size_t i = 0; i < tree.tokens.size(); ++i) {
    if (logs[i]) continue;
    std::vector<Token> without = tree.tokens;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_TRUE(decides_all(without) || tree.is(i, "const"))
        << "without " << tree.text(i) << " of line " << tree.tokens[i].line;
    std::vector<Token> twice = tree.tokens;
    twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(i), tree.tokens[i]);
    const bool harmless = tree.is(i, ";") || tree.text(i).compare(0, 8, "#include") == 0;
    EXPECT_TRUE(decides_all(twice) || harmless)
        << "twice " << tree.text(i) << " of line " << tree.tokens[i].line;
  }
}

TEST(Fuzz, Noise) {
  std::mt19937 random(13);
  for (int round = 0; round < 100; ++round) {
    std::string text(random() % 400, ' ');
    for (char& c : text) c = static_cast<char>(random() % 256);
    against_recorded(text);
  }
}

}  // namespace
}  // namespace flor::probes
