#include "probes/cxx/tree.h"

#include <algorithm>

#include "probes/cxx/brackets.h"
#include "probes/cxx/compound.h"

namespace flor::probes {
namespace {

constexpr size_t kMaxText = size_t{1} << 20;
constexpr size_t kMaxDepth = 200;  // of nested braces; walkers recurse

class Parser {
 public:
  explicit Parser(Tree* tree) : tree_(*tree) {}

  void run() {
    Node root;
    root.kind = NodeKind::kRoot;
    root.end = root.head_end = tree_.tokens.size();
    tree_.nodes.push_back(root);
    size_t i = 0;
    while (i < tree_.tokens.size() && tree_.error.empty()) i = step(i);
    leaf(i);
  }

 private:
  // Reads the token at i; returns the one to read next.
  size_t step(size_t i) {
    const Token& token = tree_.tokens[i];
    if (token.kind == TokenKind::kDirective && i == start_) return add(NodeKind::kDirective, i + 1, i + 1);
    if (token.kind != TokenKind::kPunctuator) return i + 1;
    if (token.text == "(" || token.text == "[") return tree_.match[i] + 1;
    if (token.text == "{") return open(i);
    if (token.text == "}") {
      leaf(i);
      current_ = tree_.node(current_).parent;
      start_ = i + 1;
      --depth_;
    }
    if (token.text == ";") leaf(i + 1);
    return i + 1;
  }

  size_t open(size_t i) {
    const NodeKind kind = classify(tree_, start_, i, tree_.node(current_).kind);
    if (kind == NodeKind::kLeaf) return tree_.match[i] + 1;  // an initializer or a lambda
    const std::string name = kind == NodeKind::kFunction ? function_name(tree_, start_, i) : "";
    add(kind, i, tree_.match[i] + 1);
    current_ = static_cast<int>(tree_.nodes.size()) - 1;
    tree_.nodes.back().name = name;
    start_ = i + 1;
    if (++depth_ > kMaxDepth) {
      tree_.error = "braces nested too deeply";
      tree_.error_line = tree_.tokens[i].line;
    }
    return i + 1;
  }

  // A statement that ends before `end`. Empty statements are no statements.
  void leaf(size_t end) {
    const bool empty = end == start_ || (end == start_ + 1 && tree_.is(start_, ";"));
    const bool splits = !empty && depth_ < kMaxDepth;
    const size_t body = splits ? bare_body(tree_, start_, end) : start_;
    if (body != start_) {
      // `if (x) f();` is what `if (x) { f(); }` is.
      const int outer = current_;
      add(bare_kind(tree_, start_, body), body, end);
      current_ = static_cast<int>(tree_.nodes.size()) - 1;
      start_ = body;
      ++depth_;
      leaf(end);
      --depth_;
      current_ = outer;
    } else if (!empty) {
      add(NodeKind::kLeaf, end, end);
    }
    start_ = end;
  }

  size_t add(NodeKind kind, size_t head_end, size_t end) {
    Node node;
    node.kind = kind;
    node.begin = start_;
    node.head_end = head_end;
    node.end = end;
    node.parent = current_;
    tree_.nodes[static_cast<size_t>(current_)].children.push_back(static_cast<int>(tree_.nodes.size()));
    tree_.nodes.push_back(std::move(node));
    start_ = end;
    return end;
  }

  Tree& tree_;
  size_t depth_ = 0;
  int current_ = 0;
  size_t start_ = 0;
};

}  // namespace

int Tree::line(int index) const {
  const size_t begin = node(index).begin;
  if (begin < tokens.size()) return tokens[begin].line;
  return tokens.empty() ? 1 : tokens.back().line;
}

int Tree::next_sibling(int index) const {
  if (index <= 0) return -1;
  const std::vector<int>& list = node(node(index).parent).children;
  const auto at = std::lower_bound(list.begin(), list.end(), index);
  return at + 1 == list.end() ? -1 : *(at + 1);
}

int Tree::previous_sibling(int index) const {
  if (index <= 0) return -1;
  const std::vector<int>& list = node(node(index).parent).children;
  const auto at = std::lower_bound(list.begin(), list.end(), index);
  return at == list.begin() ? -1 : *(at - 1);
}

Tree parse(std::string_view text, std::shared_ptr<Texts> texts) {
  Tree tree;
  tree.texts = std::move(texts);
  if (text.size() > kMaxText) {
    tree.error = "too large to be read";
    tree.error_line = 1;
  } else {
    Lexed lexed = lex(text, tree.texts);
    tree.tokens = std::move(lexed.tokens);
    tree.error = std::move(lexed.error);
    tree.error_line = lexed.error_line;
  }
  if (tree.error.empty()) check_brackets(&tree);
  if (tree.error.empty()) check_nesting(&tree);
  if (!tree.error.empty()) {
    tree.tokens.clear();
    tree.match.clear();
  }
  Parser(&tree).run();
  return tree;
}

void add_words(const Tree& tree, std::vector<bool>* seen, std::unordered_set<std::string>& words) {
  const auto add = [&](const Token& token) {
    const size_t id = token.text.id();
    if (token.kind != TokenKind::kWord || (id < seen->size() && (*seen)[id])) return;
    if (id >= seen->size()) seen->resize(tree.texts->size(), false);
    (*seen)[id] = true;
    words.insert(token.text.str());
  };
  for (const Token& token : tree.tokens) {
    add(token);
    if (token.kind != TokenKind::kDirective) continue;
    for (const Token& inner : directive_tokens(token, tree.texts)) add(inner);
  }
}

bool same_tokens(const Tree& a, size_t a_begin, size_t a_end, const Tree& b, size_t b_begin, size_t b_end) {
  if (a_end - a_begin != b_end - b_begin) return false;
  for (size_t i = a_begin, j = b_begin; i < a_end; ++i, ++j) {
    if (a.tokens[i].text != b.tokens[j].text || a.tokens[i].kind != b.tokens[j].kind) return false;
  }
  return true;
}

}  // namespace flor::probes
