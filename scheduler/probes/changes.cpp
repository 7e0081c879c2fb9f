#include "scheduler/probes/changes.h"

#include "scheduler/probes/declaration.h"

namespace flor::probes {
namespace {

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

std::set<std::string> changed_beside(const Tree& tree, int node, const std::set<std::string>& restored) {
  Changes changes(tree);
  changes.subtree(node);
  std::set<std::string> names;
  for (const std::string& name : changes.changed) {
    if (changes.declared.count(name) == 0 && restored.count(name) == 0) names.insert(name);
  }
  return names;
}

}  // namespace flor::probes
