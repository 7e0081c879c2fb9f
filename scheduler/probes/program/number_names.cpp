// Finds aliases of number types.
#include "probes/program/number_names.h"

#include <algorithm>

#include "probes/cxx/library.h"

namespace flor::probes {
namespace {

// Returns whether the whole file sees the name: it is in no class, function or named namespace.
bool at_root(const Tree& tree, const Node& node) {
  for (int up = node.parent; up > 0; up = tree.node(up).parent) {
    const Node& around = tree.node(up);
    if (around.kind != NodeKind::kNamespace || !tree.is(around.begin, "namespace") ||
        around.head_end != around.begin + 1)
      return false;
  }
  return true;
}

// The type in [begin, end), where it is nothing but words.
std::string type_in(const Tree& tree, size_t begin, size_t end) {
  std::string out;
  for (size_t i = begin; i < end; ++i) {
    if (!tree.word(i) && !tree.is(i, "::")) return "";
    const bool blank = !out.empty() && tree.word(i) && tree.word(i - 1);
    out += (blank ? " " : "") + tree.text(i);
  }
  return out;
}

struct Names {
  std::map<std::string, std::set<std::string>> targets;  // a name's types
  std::map<std::string, int> clear, all;                 // how often it is declared: so, and at all
};

void read_alias(const Tree& tree, const Node& node, Names* names) {
  const bool alias =
      tree.is(node.begin, "using") && tree.word(node.begin + 1) && tree.is(node.begin + 2, "=");
  const bool typed = tree.is(node.begin, "typedef") && node.end >= node.begin + 4;
  if (!(alias || typed) || !at_root(tree, node)) return;
  const size_t name = alias ? node.begin + 1 : node.end - 2;
  const std::string type =
      alias ? type_in(tree, node.begin + 3, node.end - 1) : type_in(tree, node.begin + 1, name);
  if (type.empty()) return;
  names->targets[tree.text(name)].insert(type);
  ++names->clear[tree.text(name)];
}

// All that may give a name its meaning: aliases, classes, parameters of templates, macros.
void count_meanings(const Tree& tree, Names* names) {
  for (size_t i = 0; i < tree.tokens.size(); ++i) {
    const Token& token = tree.tokens[i];
    if (token.kind == TokenKind::kDirective) {
      for (const Token& inner : directive_tokens(token, tree.texts)) ++names->all[inner.text];
    }
    for (const char* word : {"typename", "class", "struct", "enum", "union"}) {
      if (tree.is(i, word) && tree.word(i + 1)) ++names->all[tree.text(i + 1)];
    }
    if (!tree.is(i, "using") && !tree.is(i, "typedef")) continue;
    if (tree.is(i + 2, "=")) {
      ++names->all[tree.text(i + 1)];
      continue;
    }
    size_t last = i;
    while (last < tree.tokens.size() && !tree.is(last, ";")) ++last;
    ++names->all[tree.text(last - 1)];
  }
}

}  // namespace

std::map<std::string, std::string> number_names(const Program& program) {
  Names names;
  for (const Source& source : program.sources) {
    for (const Node& node : source.tree.nodes) {
      if (node.kind == NodeKind::kLeaf) read_alias(source.tree, node, &names);
    }
    count_meanings(source.tree, &names);
  }
  std::map<std::string, std::string> out;
  for (bool again = true; again;) {
    again = false;
    for (const auto& [name, types] : names.targets) {
      if (types.size() != 1 || names.clear[name] != names.all[name] || is_number_type(name)) continue;
      const auto known = out.find(*types.begin());
      const std::string& type = known == out.end() ? *types.begin() : known->second;
      again = (is_number_type(type) && type != "void" && out.emplace(name, type).second) || again;
    }
  }
  return out;
}

}  // namespace flor::probes
