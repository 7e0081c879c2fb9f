#include "probes/rules/renames.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "probes/cxx/blocks.h"
#include "probes/cxx/declarators.h"
#include "probes/cxx/library.h"

namespace flor::probes {
namespace {

// Returns names that the file declares as variables in functions, and never uses as members.
std::set<std::string> variables(const Tree& tree) {
  std::set<std::string> out;
  const auto add = [&](size_t begin, size_t end) {
    for (const Declarator& one : declarators(tree, begin, end).list) out.insert(tree.text(one.name));
  };
  for (const Node& node : tree.nodes) {
    if (node.kind == NodeKind::kLeaf) add(node.begin, node.end);
    for (size_t i = node.begin;
         node.kind != NodeKind::kLeaf && node.kind != NodeKind::kRoot && i < node.head_end; ++i) {
      if (!tree.is(i, "(")) continue;
      size_t part = i + 1;
      for (size_t end = part; end <= tree.match[i]; ++end) {
        if (end < tree.match[i] && !tree.is(end, ";") && !tree.is(end, ",")) continue;
        add(part, end);
        part = end + 1;
      }
    }
  }
  for (size_t i = 1; i < tree.tokens.size(); ++i) {
    if (tree.is(i - 1, ".") || tree.is(i - 1, "->") || tree.is(i - 1, "::")) out.erase(tree.text(i));
  }
  return out;
}

// Notes old → new where the two token ranges differ in words alone; false where they contradict.
bool pair_words(const Tree& a, size_t a_begin, size_t a_end, const Tree& b, size_t b_begin, size_t b_end,
                std::map<std::string, std::string>* names) {
  if (a_end - a_begin != b_end - b_begin) return false;
  std::map<std::string, std::string> found;
  for (size_t i = a_begin, j = b_begin; i < a_end; ++i, ++j) {
    if (a.text(i) == b.text(j)) continue;
    if (!a.word(i) || !b.word(j)) return false;
    const auto at = found.emplace(a.text(i), b.text(j)).first;
    if (at->second != b.text(j)) return false;
  }
  names->insert(found.begin(), found.end());
  return true;
}

using Names = std::map<std::string, std::string>;

// Finds variables that the recorded file names differently throughout.
bool rename_everywhere(Tree* recorded, const Tree& present, const Names& names) {
  std::unordered_set<std::string> old_words, new_words;
  std::vector<bool> old_seen, new_seen;
  add_words(*recorded, &old_seen, old_words);
  add_words(present, &new_seen, new_words);
  const std::set<std::string> old_variables = variables(*recorded), new_variables = variables(present);
  std::set<std::string> targets;
  Names accepted;
  for (const auto& [before, after] : names) {
    const bool renamed = new_words.count(before) == 0 && old_words.count(after) == 0 &&
                         old_variables.count(before) != 0 && new_variables.count(after) != 0;
    if (renamed && targets.insert(after).second) accepted[before] = after;
  }
  for (Token& token : recorded->tokens) {
    const auto at = token.kind == TokenKind::kWord ? accepted.find(token.text.str()) : accepted.end();
    if (at != accepted.end()) token.text = recorded->texts->keep(at->second);
  }
  return !accepted.empty();
}

size_t count(const Tree& tree, size_t begin, size_t end, const std::string& name) {
  size_t out = 0;
  for (size_t i = begin; i < end; ++i) out += tree.word(i) && tree.text(i) == name ? 1 : 0;
  return out;
}

// Is the name within the function nothing but a variable of one list of statements, which declares it first?
bool is_local(const Tree& tree, int function, const std::string& name) {
  const Node& whole = tree.node(function);
  size_t first = whole.end;
  for (size_t i = whole.end; i-- > whole.begin;) {
    if (!tree.word(i) || tree.text(i) != name) continue;
    if (tree.is(i - 1, ".") || tree.is(i - 1, "->") || tree.is(i - 1, "::")) return false;
    first = i;
  }
  for (const Node& node : tree.nodes) {
    const bool in = whole.begin <= node.begin && node.end <= whole.end;
    if (in && node.kind == NodeKind::kClass) return false;
    if (!in || node.kind != NodeKind::kLeaf || first < node.begin || first >= node.end) continue;
    const Declarators declared = declarators(tree, node.begin, node.end);
    const Node& list = tree.node(node.parent);
    const bool declares = std::any_of(declared.list.begin(), declared.list.end(),
                                      [&](const Declarator& one) { return one.name == first; });
    return declares && !declared.external &&
           count(tree, first, list.end, name) == count(tree, whole.begin, whole.end, name);
  }
  return false;
}

// Variables of one function alone: elsewhere the names may be anything.
bool rename_in_function(Tree* recorded, int before_function, const Tree& present, int after_function,
                        const Names& names, const std::set<std::string>& in_macros) {
  if (before_function < 0 || after_function < 0) return false;
  const Node& a = recorded->node(before_function);
  const Node& b = present.node(after_function);
  bool renamed = false;
  for (const auto& [before, after] : names) {
    const bool new_name = count(*recorded, a.begin, a.end, after) == 0;
    const bool old_gone = count(present, b.begin, b.end, before) == 0;
    const bool clear = in_macros.count(before) == 0 && in_macros.count(after) == 0;
    if (!new_name || !old_gone || !clear || !is_local(*recorded, before_function, before) ||
        !is_local(present, after_function, after))
      continue;
    for (size_t i = a.begin; i < a.end; ++i) {
      if (recorded->word(i) && recorded->text(i) == before)
        recorded->tokens[i].text = recorded->texts->keep(after);
    }
    renamed = true;
  }
  return renamed;
}

}  // namespace

bool apply_renames(Tree* recorded, const Tree& present, const std::vector<Edit>& edits,
                   const std::set<std::string>& in_macros) {
  Names names;
  std::map<std::pair<int, int>, Names> by_function;
  for (const Edit& a : edits) {
    if (a.kind != EditKind::kRemoved) continue;
    const Node& removed = recorded->node(a.recorded);
    for (const Edit& b : edits) {
      if (b.kind != EditKind::kAdded) continue;
      const Node& added = present.node(b.present);
      if (removed.kind != added.kind) continue;
      Names found;
      if (!pair_words(*recorded, removed.begin, removed.head_end, present, added.begin, added.head_end,
                      &found))
        continue;
      by_function[{function_around(*recorded, a.recorded), function_around(present, b.present)}].insert(
          found.begin(), found.end());
      names.insert(found.begin(), found.end());
      break;
    }
  }
  if (names.empty()) return false;
  bool renamed = rename_everywhere(recorded, present, names);
  for (const auto& [functions, found] : by_function)
    renamed =
        rename_in_function(recorded, functions.first, present, functions.second, found, in_macros) || renamed;
  return renamed;
}

}  // namespace flor::probes
