#include "probes/cxx/names.h"

#include <utility>

#include "probes/cxx/declaration.h"

namespace flor::probes {
namespace {

// Index of words, by the ids of their texts.
struct Mentions {
  std::vector<std::vector<Text>> names{};  // of a word: the names in whose definitions it stands
  std::vector<size_t> last{};              // of a word: the definition that mentioned it last
  size_t definitions = 0;
};

void note(Text name, const std::vector<Token>& tokens, size_t begin, size_t end, bool calls_only,
          Mentions* out) {
  ++out->definitions;
  for (size_t i = begin; i < end; ++i) {
    if (tokens[i].kind != TokenKind::kWord) continue;
    const bool call = i + 1 < tokens.size() && tokens[i + 1].text == "(";
    if (!call && calls_only) continue;
    const size_t word = tokens[i].text.id();
    if (word >= out->last.size()) {
      out->last.resize(2 * word + 1, 0);
      out->names.resize(2 * word + 1);
    }
    if (std::exchange(out->last[word], out->definitions) != out->definitions)
      out->names[word].push_back(name);
  }
}

// Returns the variable that a statement declares, assigns to (the word before its first `=`, `+=`, …) or
// appends to.
std::string assigned(const Tree& tree, const Node& leaf) {
  if (const auto own = declaration(tree, leaf.begin, leaf.end)) return own->name;
  for (size_t i = leaf.begin + 1; i < leaf.end; i = tree.skip(i)) {
    const std::string& text = tree.text(i);
    const bool compares = text == "==" || text == "!=" || text == "<=" || text == ">=";
    if (!compares && text.back() == '=' && tree.word(i - 1)) return tree.text(i - 1);
    if ((text == "push_back" || text == "emplace_back") && i >= leaf.begin + 2 && tree.word(i - 2))
      return tree.text(i - 2);
  }
  return "";
}

// `for (auto& a : …)`
std::string loop_variable(const Tree& tree, const Node& loop) {
  for (size_t i = loop.begin; i + 1 < loop.head_end; ++i) {
    if (!tree.is(i, "for") || !tree.is(i + 1, "(")) continue;
    size_t end = i + 2;
    while (end < tree.match[i + 1] && !tree.is(end, ";")) end = tree.skip(end);
    const auto own = declaration(tree, i + 2, end);
    return own ? own->name : "";
  }
  return "";
}

void note_tree(const Tree& tree, bool calls_only, const Node* without, Mentions* out) {
  for (const Node& node : tree.nodes) {
    if (without != nullptr && without->begin <= node.begin && node.end <= without->end) continue;
    if (node.kind == NodeKind::kFunction)
      note(tree.texts->keep(node.name), tree.tokens, node.begin, node.end, calls_only, out);
    const std::string name = node.kind == NodeKind::kLeaf   ? assigned(tree, node)
                             : node.kind == NodeKind::kLoop ? loop_variable(tree, node)
                                                            : "";
    if (!name.empty()) note(tree.texts->keep(name), tree.tokens, node.begin, node.head_end, calls_only, out);
  }
  for (const Token& token : tree.tokens) {
    if (!defines_macro(token)) continue;
    const std::vector<Token> macro = directive_tokens(token, tree.texts);
    if (macro.size() > 2) note(macro[1].text, macro, 2, macro.size(), calls_only, out);
  }
}

}  // namespace

std::set<std::string> names_leading_to(const std::vector<const Tree*>& program, std::set<std::string> seeds,
                                       bool calls_only, int without) {
  Mentions mentions;
  for (const Tree* tree : program)
    note_tree(*tree, calls_only, without < 0 ? nullptr : &tree->node(without), &mentions);
  std::vector<std::string> todo(seeds.begin(), seeds.end());
  while (!todo.empty()) {
    const std::string name = todo.back();
    todo.pop_back();
    const size_t word = program.empty() ? 0 : program[0]->texts->keep(name).id();
    if (word >= mentions.names.size()) continue;
    for (const Text found : mentions.names[word]) {
      if (seeds.insert(found.str()).second) todo.push_back(found.str());
    }
  }
  return seeds;
}

bool mentions(const Tree& tree, size_t begin, size_t end, const std::set<std::string>& names) {
  for (size_t i = begin; i < end; ++i) {
    if (tree.word(i) && names.count(tree.text(i)) != 0) return true;
  }
  return false;
}

}  // namespace flor::probes
