#include "probes/rules/changes.h"

#include <algorithm>
#include <map>

#include "probes/cxx/access_paths.h"
#include "probes/cxx/declaration.h"

namespace flor::probes {
namespace {

constexpr size_t kNone = std::string::npos;

// Returns the variable at the root of `a.b[c]->d`, read backwards from its last token. kNone: it has none.
size_t root_of(const Tree& tree, size_t begin, size_t last) {
  size_t at = last;
  while (at > begin) {
    if (tree.is(at, "]") || tree.is(at, ")")) {
      at = tree.match[at];
      if (at <= begin) return kNone;
      --at;
    } else if (is_member_access(tree, at - 1)) {
      if (at < begin + 2) return kNone;
      at -= 2;
    } else {
      break;
    }
  }
  return tree.word(at) && !tree.is(at, "std") ? at : kNone;  // std::tie(a, b) = …
}

// Collects what a node changes that is not its own.
class Changes {
 public:
  explicit Changes(const Tree& tree) : tree_(tree) {}

  // The names that the code so far has declared, with the paths that those stand for which are references or
  // pointers; others are its own.
  using Names = std::map<std::string, std::set<std::string>>;

  // A statement declares names for those behind it, a compound for itself alone.
  void node(int index, Names& around) {
    const Node& node = tree_.node(index);
    if (node.kind == NodeKind::kLeaf) {
      const auto own = declaration(tree_, node.begin, node.end);
      declare(own, around);
      changes(own ? own->init_begin : node.begin, node.end, around);
      return;
    }
    Names names = around;
    for (size_t i = node.begin; i < node.head_end; ++i) {
      const bool opens =
          tree_.is(i, "for") || tree_.is(i, "if") || tree_.is(i, "while") || tree_.is(i, "switch");
      if (opens && tree_.is(i + 1, "(")) in_head(i + 2, tree_.match[i + 1], names);
    }
    changes(node.begin, node.head_end, names);
    for (const int child : node.children) this->node(child, names);
  }

  std::set<std::string> paths;

 private:
  void in_head(size_t begin, size_t end, Names& names) {
    size_t first = begin;
    while (first < end && !tree_.is(first, ";")) first = tree_.skip(first);
    declare(declaration(tree_, begin, first), names);
  }

  void declare(const std::optional<Declaration>& own, Names& names) {
    if (!own) return;
    std::set<std::string> stands_for;
    if (own->indirect) {
      for (const std::string& path : access_paths_in(tree_, own->init_begin, own->init_end))
        for (const std::string& known : resolved(path, names)) stands_for.insert(known);
    }
    names[own->name] = stands_for;
  }

  // Returns the paths that a path means, if it is an alias. None: it belongs to the code itself.
  [[nodiscard]] static std::set<std::string> resolved(const std::string& path, const Names& names) {
    const auto own = names.find(path.substr(0, path.find('.')));
    return own == names.end() ? std::set<std::string>{path} : own->second;
  }

  void changes(size_t begin, size_t end, const Names& names) {
    static const std::set<std::string> kOperations = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
    for (size_t at = begin; at < end; ++at) {
      const std::string& text = tree_.text(at);
      const bool step = text == "++" || text == "--";
      const bool method = text == "push_back" || text == "emplace_back";
      if (step && at + 1 < end) in_front_of_what(at + 1, end, names);
      if (at == begin || (!step && !method && kOperations.count(text) == 0)) continue;
      if (!method) {
        assigned(begin, at - 1, names);
      } else if (at >= begin + 2 && is_member_access(tree_, at - 1)) {
        assigned(begin, at - 2, names);
      }
    }
  }

  // `++a.b`, `++*p`, `++::a`
  void in_front_of_what(size_t at, size_t end, const Names& names) {
    const bool pointer = tree_.is(at, "*");
    if (pointer || tree_.is(at, "::")) ++at;
    if (!tree_.word(at) || at >= end) return;  // `a++;`, or any word of what stands behind
    size_t behind = 0;
    add(access_path_at(tree_, at, end, behind) + (pointer ? ".*" : ""), names);
  }

  // What stands in front of an assignment, up to its token `last`.
  void assigned(size_t begin, size_t last, const Names& names) {
    const size_t root = root_of(tree_, begin, last);
    if (root != kNone && tree_.is(root, "auto")) return;  // auto [a, b] = …
    if (root == kNone) {
      any_in(begin, last, names);
      return;
    }
    size_t behind = 0;
    const bool pointer = root > begin && tree_.is(root - 1, "*");
    const std::string path = access_path_at(tree_, root, last + 1, behind);
    if (!tree_.is(behind, "(")) {
      add(pointer && behind == last + 1 ? path + ".*" : path, names);
    } else if (path.find('.') != std::string::npos) {
      add(without_method(path), names);
    } else {
      any_in(begin, last, names);  // `stats_of(a).n = …`
    }
  }

  // An unreadable target: go back to where its expression begins.
  void any_in(size_t begin, size_t last, const Names& names) {
    static const std::set<std::string> kInFront = {";", ",", "{",  "}",  "(",     "[",
                                                   "?", ":", "&&", "||", "return"};
    bool pointer = false;
    size_t first = last + 1;
    while (first > begin && kInFront.count(tree_.text(first - 1)) == 0) {
      --first;
      if (tree_.is(first, "auto")) return;  // auto& [a, b] = …
      if (tree_.match[first] < first) first = std::max(begin, tree_.match[first]);
    }
    for (size_t i = first; i <= last; ++i) pointer = pointer || tree_.is(i, "*");
    for (const std::string& path : access_paths_in(tree_, first, last + 1))
      add(path + (pointer ? ".*" : ""), names);
  }

  void add(const std::string& path, const Names& names) {
    for (const std::string& known : resolved(path, names)) paths.insert(known);
  }

  const Tree& tree_;
};

}  // namespace

std::set<std::string> changed_beside(const Tree& tree, int node, const std::set<std::string>& held) {
  Changes changes(tree);
  Changes::Names names;
  changes.node(node, names);
  std::set<std::string> paths;
  for (const std::string& path : changes.paths)
    if (!is_held(held, path)) paths.insert(path);
  return paths;
}

}  // namespace flor::probes
