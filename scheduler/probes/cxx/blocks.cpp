#include "probes/cxx/blocks.h"

#include <algorithm>

namespace flor::probes {
namespace {

bool name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-';
}

// What stands between `if (` or a statement's start and SkipBlock: nothing, `flor::` or `::flor::`.
bool qualifier(const Tree& tree, size_t begin, size_t end) {
  if (tree.is(begin, "::")) ++begin;
  return begin == end || (begin + 2 == end && tree.is(begin, "flor") && tree.is(begin + 1, "::"));
}

// NAME . step_into ( ) at `at`
bool steps_into(const Tree& tree, size_t at, const std::string& name) {
  return tree.is(at, name) && tree.is(at + 1, ".") && tree.is(at + 2, "step_into") && tree.is(at + 3, "(") &&
         tree.is(at + 4, ")");
}

class Marker {
 public:
  explicit Marker(Tree* tree) : tree_(*tree), known_(tree->tokens.size(), false) {}

  void run() {
    for (size_t i = 0; i < tree_.nodes.size(); ++i) {
      const Node& node = tree_.nodes[i];
      if (node.kind == NodeKind::kRoot) continue;
      for (size_t token = node.begin; token < node.head_end; ++token) {
        if (tree_.is(token, "SkipBlock")) block(static_cast<int>(i), token);
      }
    }
    for (size_t i = 0; i < tree_.tokens.size(); ++i) check(i);
  }

 private:
  // Any mention that was not understood.
  void check(size_t at) {
    const Token& token = tree_.tokens[at];
    const auto meant = [](const Token& t) {
      return t.kind == TokenKind::kWord && (t.text == "SkipBlock" || t.text == "step_into");
    };
    bool unclear = meant(token) && !known_[at];
    if (defines_macro(token)) {
      const std::vector<Token> inner = directive_tokens(token, tree_.texts);
      unclear = std::any_of(inner.begin(), inner.end(), meant);
    }
    if (unclear && tree_.unclear_line == 0) tree_.unclear_line = token.line;
  }

  void block(int index, size_t at) {
    Node& node = tree_.nodes[static_cast<size_t>(index)];
    if (at >= 3 && tree_.is(at - 3, "using")) {
      known_[at] = true;  // using flor::SkipBlock;
      return;
    }
    std::string name;
    if (at + 3 >= node.head_end || !tree_.word(at + 1) || !(tree_.is(at + 2, "{") || tree_.is(at + 2, "(")) ||
        !plain_string(tree_.tokens[at + 3], &name)) {
      return;
    }
    const size_t close = tree_.match[at + 2];
    if (at + 4 != close && !tree_.is(at + 4, ",")) return;
    Node* region = with_initializer(index, at, close) ? &node : declared(index, at, close);
    if (region == nullptr || !region->block.empty()) return;
    known_[at] = true;
    region->block = block_name(name);
    region->args_begin = at + 4;
    region->args_end = close;
  }

  // if (flor::SkipBlock b{…}; b.step_into()) …
  bool with_initializer(int index, size_t at, size_t close) {
    if (!tree_.is(close + 1, ";") || !steps_into(tree_, close + 2, tree_.text(at + 1))) return false;
    const size_t end = close + 7;
    if (!tree_.is(end, ")")) return false;
    const size_t open = tree_.match[end];
    if (open == 0 || !tree_.is(open - 1, "if") || !qualifier(tree_, open + 1, at)) return false;
    if (!region_is_node(index, open - 1)) return false;
    known_[close + 4] = true;
    return true;
  }

  // flor::SkipBlock b{…};  and the one `if (b.step_into())` behind it in the same list.
  Node* declared(int index, size_t at, size_t close) {
    const Node& leaf = tree_.node(index);
    if (leaf.kind != NodeKind::kLeaf || !tree_.is(close + 1, ";") || close + 2 != leaf.end) return nullptr;
    if (!qualifier(tree_, leaf.begin, at)) return nullptr;
    for (int next = tree_.next_sibling(index); next >= 0; next = tree_.next_sibling(next)) {
      const size_t begin = tree_.node(next).begin;
      if (!tree_.is(begin, "if") || !tree_.is(begin + 1, "(")) continue;
      if (!steps_into(tree_, begin + 2, tree_.text(at + 1)) || !tree_.is(begin + 7, ")")) continue;
      if (!region_is_node(next, begin)) return nullptr;
      known_[begin + 4] = true;
      Node& region = tree_.nodes[static_cast<size_t>(next)];
      region.outlived = true;
      return &region;
    }
    return nullptr;
  }

  // Returns whether the statement of the `if` at `at` ends with the node, belongs to no lambda, and has no
  // else.
  [[nodiscard]] bool region_is_node(int index, size_t at) const {
    const Node& node = tree_.node(index);
    size_t begin = node.begin;
    while (begin < at) begin = tree_.skip(begin);
    const int next = tree_.next_sibling(index);
    if (begin != at || (next >= 0 && tree_.is(tree_.node(next).begin, "else"))) return false;
    size_t behind = tree_.match[at + 1] + 1;
    if (node.kind == NodeKind::kLeaf) return !tree_.is(behind, "do") && !tree_.is(behind, "try");
    while (behind < node.head_end && (tree_.is(behind, "for") || tree_.is(behind, "while"))) {
      behind = tree_.match[behind + 1] + 1;
    }
    return behind == node.head_end;
  }

  Tree& tree_;
  std::vector<bool> known_;
};

bool declarations(NodeKind kind) {
  return kind == NodeKind::kRoot || kind == NodeKind::kNamespace || kind == NodeKind::kClass;
}

}  // namespace

std::string block_name(std::string literal) {
  for (char& c : literal) {
    if (!name_char(c)) c = '_';
  }
  return literal;
}

void mark_blocks(Tree* tree) {
  Marker(tree).run();
}

int block_around(const Tree& tree, int node) {
  for (; node >= 0; node = tree.node(node).parent) {
    if (!tree.node(node).block.empty()) return node;
  }
  return -1;
}

int function_around(const Tree& tree, int node) {
  int up = node < 0 ? -1 : tree.node(node).parent;
  while (up >= 0 && tree.node(up).kind != NodeKind::kFunction) {
    if (declarations(tree.node(up).kind)) return -1;
    up = tree.node(up).parent;
  }
  for (int outer = up < 0 ? -1 : tree.node(up).parent; outer >= 0; outer = tree.node(outer).parent) {
    if (!declarations(tree.node(outer).kind)) return -1;
  }
  return up;
}

std::vector<int> blocks_in(const Tree& tree, int node) {
  std::vector<int> found;
  if (!tree.node(node).block.empty()) found.push_back(node);
  for (const int child : tree.node(node).children) {
    const std::vector<int> inner = blocks_in(tree, child);
    found.insert(found.end(), inner.begin(), inner.end());
  }
  return found;
}

}  // namespace flor::probes
