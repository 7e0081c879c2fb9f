#include "scheduler/probes/changes.h"

#include "scheduler/probes/declaration.h"

namespace flor::probes {
namespace {

bool is_member_access(const Tree& tree, size_t at) {
  return tree.is(at, ".") || tree.is(at, "->") || tree.is(at, "::");
}

// The variable at the root of `a.b[c]->d`, read backwards from its last token; npos where it is none.
size_t root_of(const Tree& tree, size_t begin, size_t last) {
  size_t at = last;
  while (at > begin) {
    if (tree.is(at, "]") || tree.is(at, ")")) {
      at = tree.match[at];
      if (at <= begin) return std::string::npos;
      --at;
    } else if (is_member_access(tree, at - 1)) {
      if (at < begin + 2) return std::string::npos;
      at -= 2;
    } else {
      break;
    }
  }
  return tree.word(at) ? at : std::string::npos;
}

// "a.b" of `a.b[c]->d` or `this->a.b`, read forwards from its first token in front of `end`: as far as each
// part has a name. `behind`: the token where that ended.
std::string path_from(const Tree& tree, size_t at, size_t end, size_t& behind) {
  if (tree.is(at, "this") && at + 2 < end && tree.is(at + 1, "->")) at += 2;
  std::string path = tree.text(at);
  for (++at; at + 1 < end && is_member_access(tree, at) && tree.word(at + 1); at += 2)
    path += '.' + tree.text(at + 1);
  behind = at;
  return path;
}

// Is the path itself held, or what it lies in?
bool is_held(const std::set<std::string>& held, std::string path) {
  while (held.count(path) == 0) {
    const size_t dot = path.rfind('.');
    if (dot == std::string::npos) return false;
    path.resize(dot);
  }
  return true;
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

  std::set<std::string> changed;  // paths
  std::set<std::string> declared;

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
    if (step && at + 1 < end && tree_.word(at + 1)) add_path(at + 1, end);
  }

  void add(size_t begin, size_t last) {
    const size_t root = root_of(tree_, begin, last);
    if (root == std::string::npos || tree_.is(root, "auto")) return;  // auto [a, b] = …
    add_path(root, last + 1);
  }

  void add_path(size_t root, size_t end) {
    size_t behind = 0;
    changed.insert(path_from(tree_, root, end, behind));
  }

  const Tree& tree_;
};

}  // namespace

std::set<std::string> held_by_arguments(const Tree& tree, size_t begin, size_t end) {
  std::set<std::string> held;
  for (size_t at = begin; at < end; ++at) {
    size_t argument = at;
    while (at < end && !tree.is(at, ",")) at = tree.skip(at);
    if (tree.is(argument, "*")) ++argument;
    if (argument >= at || !tree.word(argument)) continue;
    size_t behind = 0;
    const std::string path = path_from(tree, argument, at, behind);
    if (behind == at) held.insert(path);
  }
  return held;
}

std::set<std::string> changed_beside(const Tree& tree, int node, const std::set<std::string>& held) {
  Changes changes(tree);
  changes.subtree(node);
  std::set<std::string> names;
  for (const std::string& path : changes.changed) {
    const std::string variable = path.substr(0, path.find('.'));
    if (changes.declared.count(variable) == 0 && !is_held(held, path)) names.insert(variable);
  }
  return names;
}

}  // namespace flor::probes
