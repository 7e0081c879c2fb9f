#include "scheduler/probes/block_checks.h"

#include <algorithm>
#include <optional>

#include "scheduler/probes/blocks.h"
#include "scheduler/probes/declaration.h"
#include "scheduler/probes/harmless.h"
#include "scheduler/probes/log_calls.h"

namespace flor::probes {
namespace {

const std::set<std::string> kReturns = {"return", "co_return", "goto"};

// Macros whose text holds a jump.
std::set<std::string> jumping_macros(const Tree& tree) {
  std::set<std::string> names;
  for (const Token& token : tree.tokens) {
    if (token.kind != TokenKind::kDirective || token.text.compare(0, 7, "#define") != 0) continue;
    const std::vector<Token> macro = directive_tokens(token);
    for (size_t i = 2; i < macro.size(); ++i) {
      const std::string& text = macro[i].text;
      if (kReturns.count(text) != 0 || text == "break" || text == "continue") names.insert(macro[1].text);
    }
  }
  return names;
}

// Looks for the first jump out of a region.
class Leaving {
 public:
  explicit Leaving(const Tree& tree) : tree_(tree), macros_(jumping_macros(tree)) {}

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

// The variable at the root of `a.b[c]->d`, read backwards from its last token; npos where it is none.
size_t root_of(const Tree& tree, size_t begin, size_t last) {
  size_t at = last;
  while (at > begin) {
    if (tree.is(at, "]") || tree.is(at, ")")) {
      at = tree.match[at];
      if (at <= begin) return std::string::npos;
      --at;
    } else if (tree.is(at - 1, ".") || tree.is(at - 1, "->") || tree.is(at - 1, "::")) {
      if (at < begin + 2) return std::string::npos;
      at -= 2;
    } else {
      break;
    }
  }
  return tree.word(at) ? at : std::string::npos;
}

// What a statement, or the head of one, changes and declares.
class Changes {
 public:
  explicit Changes(const Tree& tree) : tree_(tree) {}

  void subtree(int index) {
    const Node& node = tree_.node(index);
    if (const auto own = declaration(tree_, node.begin, node.head_end)) declared.insert(own->name);
    for (size_t i = node.begin; i < node.head_end; ++i) {
      if (tree_.is(i, "for") && tree_.is(i + 1, "(")) loop_variable(i + 2, tree_.match[i + 1]);
      change_at(node.begin, i, node.head_end);
    }
    for (const int child : node.children) subtree(child);
  }

  std::set<std::string> changed, declared;

 private:
  void loop_variable(size_t begin, size_t end) {
    size_t first = begin;
    while (first < end && !tree_.is(first, ";")) first = tree_.skip(first);
    if (const auto own = declaration(tree_, begin, first)) declared.insert(own->name);
  }

  void change_at(size_t begin, size_t at, size_t end) {
    static const std::set<std::string> kOperations = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
    const std::string& text = tree_.text(at);
    const bool step = text == "++" || text == "--";
    const bool behind = step || kOperations.count(text) != 0 || text == "push_back" || text == "emplace_back";
    if (behind && at > begin) {
      const bool member = tree_.word(at);  // NAME . push_back
      if (!member || at >= begin + 2) add(begin, member ? at - 2 : at - 1);
    }
    if (step && at + 1 < end && tree_.word(at + 1)) changed.insert(tree_.text(at + 1));
  }

  void add(size_t begin, size_t last) {
    const size_t root = root_of(tree_, begin, last);
    if (root == std::string::npos || tree_.is(root, "auto")) return;  // auto [a, b] = …
    changed.insert(tree_.text(root));
  }

  const Tree& tree_;
};

}  // namespace

std::vector<Unskippable> unskippable(const Tree& tree) {
  std::vector<Unskippable> found;
  const Leaving leaving(tree);
  HarmlessRules rules;
  rules.in_function = true;
  rules.unqualified_log = logs_unqualified(tree);
  const Harmless harmless(tree, rules);
  for (const int block : blocks_in(tree, 0)) {
    const Node& node = tree.node(block);
    const std::optional<size_t> leaves = leaving.find(block);
    if (leaves) {
      const Token& token = tree.tokens[*leaves];
      found.push_back({node.block, token.line, "is left by `" + token.text + "` here"});
    } else if (node.outlived && code_behind(tree, block, harmless)) {
      const int next = tree.next_sibling(block);
      found.push_back({node.block, tree.line(next), "lives on behind its `if` (put both into braces)"});
    }
  }
  return found;
}

std::set<std::string> unrestored(const Tree& tree, int block) {
  const Node& node = tree.node(block);
  Changes changes(tree);
  changes.subtree(block);
  for (size_t i = node.args_begin; i < node.args_end; ++i) changes.declared.insert(tree.text(i));
  std::set<std::string> names;
  for (const std::string& name : changes.changed) {
    if (changes.declared.count(name) == 0) names.insert(name);
  }
  return names;
}

bool blocks_before(const Tree& tree, int node, std::vector<int>* blocks) {
  for (int at = node; at > 0 && tree.node(at).kind != NodeKind::kFunction; at = tree.node(at).parent) {
    for (int left = tree.previous_sibling(at); left >= 0; left = tree.previous_sibling(left)) {
      const std::vector<int> inner = blocks_in(tree, left);
      const Node& sibling = tree.node(left);
      const bool certain = sibling.kind == NodeKind::kLoop || sibling.kind == NodeKind::kPlain;
      if (!inner.empty() && !certain && sibling.block.empty()) return false;  // it may not have run
      blocks->insert(blocks->end(), inner.begin(), inner.end());
    }
    const int parent = tree.node(at).parent;
    if (parent < 0 || !tree.node(parent).block.empty()) return true;  // the block around it executes anyway
    const bool loop = tree.node(parent).kind == NodeKind::kLoop;
    if (loop && !blocks_in(tree, parent).empty()) return !blocks->empty();
  }
  return !blocks->empty();
}

}  // namespace flor::probes
