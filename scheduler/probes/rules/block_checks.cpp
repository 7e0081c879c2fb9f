#include "probes/rules/block_checks.h"

#include <algorithm>
#include <optional>

#include "probes/cxx/blocks.h"
#include "probes/cxx/log_calls.h"
#include "probes/rules/harmless.h"

namespace flor::probes {
namespace {

const std::set<std::string> kReturns = {"return", "co_return", "goto"};

// Macros whose text holds a jump.
std::set<std::string> jumping_macros(const Tree& tree) {
  std::set<std::string> names;
  for (const Token& token : tree.tokens) {
    if (!defines_macro(token)) continue;
    const std::vector<Token> macro = directive_tokens(token, tree.texts);
    for (size_t i = 2; i < macro.size(); ++i) {
      const std::string& text = macro[i].text;
      if (kReturns.count(text) != 0 || text == "break" || text == "continue")
        names.insert(macro[1].text.str());
    }
  }
  return names;
}

// Looks for the first jump out of a region.
class TerminateHandler {
 public:
  explicit TerminateHandler(const Tree& tree) : tree_(tree), macros_(jumping_macros(tree)) {}

  // The token that leaves the block, if one does. A jump inside parentheses or braces of a statement is a
  // lambda's.
  [[nodiscard]] std::optional<size_t> find(int block) const {
    const Node& node = tree_.node(block);
    // The region of `for (...) if (flor::SkipBlock …)` begins behind the block's arguments, not at `for`.
    return in_node(node, std::max(node.begin, node.args_end), false, false);
  }

 private:
  [[nodiscard]] std::optional<size_t> in_node(const Node& node, size_t begin, bool in_loop,
                                              bool in_switch) const {
    for (size_t i = begin; i < node.head_end; i = tree_.skip(i)) {
      const std::string& text = tree_.text(i);
      if (!tree_.word(i)) continue;
      if (text == "for" || text == "while" || text == "do") in_loop = true;
      if (text == "switch") in_switch = true;
      if (kReturns.count(text) != 0 || macros_.count(text) != 0) return i;
      if ((text == "break" && !in_loop && !in_switch) || (text == "continue" && !in_loop)) return i;
    }
    for (const int child : node.children) {
      const Node& inner = tree_.node(child);
      if (inner.kind == NodeKind::kClass) continue;  // a local class: its methods' returns are theirs
      if (const auto found = in_node(inner, inner.begin, in_loop, in_switch)) return found;
    }
    return std::nullopt;
  }

  const Tree& tree_;
  std::set<std::string> macros_;
};

// Does anything but harmless statements stand behind the block, where its object still lives?
bool code_behind(const Tree& tree, int block, const Harmless& harmless) {
  Scope scope;
  for (int next = tree.next_sibling(block); next >= 0; next = tree.next_sibling(next)) {
    if (!harmless.statement(next, &scope)) return true;
  }
  return false;
}

}  // namespace

std::vector<Unskippable> unskippable(const Tree& tree) {
  std::vector<Unskippable> found;
  const TerminateHandler leaving(tree);
  HarmlessRules rules;
  rules.in_function = true;
  rules.unqualified_log = logs_unqualified(tree);
  const Harmless harmless(tree, rules);
  for (const int block : blocks_in(tree, 0)) {
    const Node& node = tree.node(block);
    const std::optional<size_t> leaves = leaving.find(block);
    if (leaves) {
      const Token& token = tree.tokens[*leaves];
      found.push_back({node.block, token.line, "is left by `" + token.text.str() + "` here"});
    } else if (node.outlived && code_behind(tree, block, harmless)) {
      const int next = tree.next_sibling(block);
      found.push_back({node.block, tree.line(next), "lives on behind its `if` (put both into braces)"});
    }
  }
  return found;
}

}  // namespace flor::probes
