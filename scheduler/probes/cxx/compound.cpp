#include "probes/cxx/compound.h"

#include <set>

namespace flor::probes {
namespace {

constexpr size_t kMaxHead = 2000;  // tokens

// Returns the token after `template <...>`, or begin.
size_t skip_template(const Tree& tree, size_t begin, size_t end) {
  while (tree.is(begin, "template") && tree.is(begin + 1, "<")) {
    int depth = 0;
    size_t i = begin + 1;
    for (; i < end; i = tree.skip(i)) {
      if (tree.is(i, "<")) ++depth;
      if (tree.is(i, ">")) --depth;
      if (tree.is(i, ">>")) depth -= 2;
      if (depth <= 0) break;
    }
    if (i >= end) return begin;
    begin = i + 1;
  }
  return begin;
}

// Returns whether `text` is a token outside parentheses, brackets and braces.
bool has(const Tree& tree, size_t begin, size_t end, std::string_view text) {
  for (size_t i = begin; i < end; i = tree.skip(i)) {
    if (tree.is(i, text)) return true;
  }
  return false;
}

bool class_head(const Tree& tree, size_t begin, size_t end) {
  if (has(tree, begin, end, "=")) return false;
  return has(tree, begin, end, "class") || has(tree, begin, end, "struct") ||
         has(tree, begin, end, "union") || has(tree, begin, end, "enum");
}

NodeKind in_declarations(const Tree& tree, size_t begin, size_t brace) {
  if (tree.is(begin, "namespace") || (tree.is(begin, "inline") && tree.is(begin + 1, "namespace"))) {
    return NodeKind::kNamespace;
  }
  if (tree.is(begin, "extern") && begin + 2 == brace) return NodeKind::kNamespace;
  begin = skip_template(tree, begin, brace);
  if (begin == brace) return NodeKind::kPlain;
  if (has(tree, begin, brace, "=") && !has(tree, begin, brace, "operator")) return NodeKind::kLeaf;
  static const std::set<std::string> kBeforeBody = {")", "const", "noexcept", "override", "final",
                                                    "&", "&&",    "try",      "}"};
  const bool call = has(tree, begin, brace, "(");
  if (call && kBeforeBody.count(tree.text(brace - 1)) != 0) return NodeKind::kFunction;
  if (class_head(tree, begin, brace)) return NodeKind::kClass;
  return call && has(tree, begin, brace, "->") ? NodeKind::kFunction : NodeKind::kLeaf;
}

// Returns the token after the closing parenthesis of `for (...)` and similar.
NodeKind behind_parenthesis(const Tree& tree, size_t begin, size_t close) {
  const size_t open = tree.match[close];
  if (open == begin) return NodeKind::kLeaf;
  const Text word = tree.tokens[open - 1].text;
  if (word == "for" || word == "while") return NodeKind::kLoop;
  if (word == "switch") return NodeKind::kSwitch;
  if (word == "if" || word == "constexpr" || word == "catch") return NodeKind::kControl;
  return open - 1 == begin && tree.word(begin) ? NodeKind::kMacro : NodeKind::kLeaf;
}

NodeKind in_statements(const Tree& tree, size_t begin, size_t brace) {
  if (begin == brace) return NodeKind::kPlain;
  const Text last = tree.tokens[brace - 1].text;
  if (last == ":") return NodeKind::kPlain;  // case 1: {
  if (last == "do") return NodeKind::kLoop;
  NodeKind kind = NodeKind::kLeaf;
  if (last == "else" || last == "try") {
    kind = NodeKind::kControl;
  } else if (last == ")") {
    kind = behind_parenthesis(tree, begin, brace - 1);
  } else if (class_head(tree, begin, brace) && !has(tree, begin, brace, "(")) {
    kind = NodeKind::kClass;
  }
  // `if (x) for (...) {` and `for (...) if (x) {` are loops: a break in there ends no more than that.
  const bool statement = kind == NodeKind::kControl || kind == NodeKind::kSwitch;
  if (statement && (has(tree, begin, brace, "for") || has(tree, begin, brace, "while")))
    return NodeKind::kLoop;
  return kind;
}

}  // namespace

NodeKind classify(const Tree& tree, size_t begin, size_t brace, NodeKind around) {
  // A table of initializers, not a head. Reading it again at each of its braces would take forever.
  if (brace - begin > kMaxHead) return NodeKind::kLeaf;
  const bool declarations =
      around == NodeKind::kRoot || around == NodeKind::kNamespace || around == NodeKind::kClass;
  return declarations ? in_declarations(tree, begin, brace) : in_statements(tree, begin, brace);
}

std::string function_name(const Tree& tree, size_t begin, size_t brace) {
  begin = skip_template(tree, begin, brace);
  for (size_t i = begin; i < brace; i = tree.skip(i)) {
    if (!tree.is(i, "(") || i == begin || !tree.word(i - 1)) continue;
    const std::string& name = tree.text(i - 1);
    if (name != "decltype" && name != "alignas" && name != "explicit" && name != "__attribute__") return name;
  }
  return "";
}

size_t bare_body(const Tree& tree, size_t begin, size_t end) {
  size_t at = begin;
  if (tree.is(at, "else")) ++at;
  const bool control = tree.is(at, "if") || tree.is(at, "for") || tree.is(at, "while");
  if (control) {
    const size_t open = tree.is(at + 1, "constexpr") ? at + 2 : at + 1;
    if (!tree.is(open, "(")) return begin;
    at = tree.match[open] + 1;
  }
  const bool unclear =
      at >= end || tree.is(at, "do") || tree.is(at, "try") || tree.is(at, "switch") || tree.is(at, ";");
  return unclear ? begin : at;
}

NodeKind bare_kind(const Tree& tree, size_t begin, size_t body) {
  return has(tree, begin, body, "for") || has(tree, begin, body, "while") ? NodeKind::kLoop
                                                                          : NodeKind::kControl;
}

}  // namespace flor::probes
