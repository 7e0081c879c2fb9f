// A source file as a tree of statements, parsed without a compiler.
//
// What the parser does not know (a macro, an initializer, a lambda) stays inside one statement, so any edit
// in it is an edit of that statement. A wrong guess costs time but never yields a wrong row.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "probes/cxx/lexer.h"

namespace flor::probes {

enum class NodeKind {
  kRoot,
  kLeaf,       // a statement up to its ';', the bodies of its lambdas included
  kDirective,  // a preprocessor line between statements
  kNamespace,  // also extern "C" { }
  kClass,      // class, struct, union, enum
  kFunction,
  kLoop,  // for, while, do
  kSwitch,
  kControl,  // if, else, try, catch
  kPlain,    // { } by itself
  kMacro,    // NAME(...) { }
};

// Token ranges are half-open. A leaf has head_end == end. In a compound, [begin, head_end) is the part before
// its brace, and end is after the closing brace.
struct Node {
  NodeKind kind = NodeKind::kLeaf;
  size_t begin = 0, head_end = 0, end = 0;
  int parent = -1;
  std::vector<int> children;
  // Name of a function.
  std::string name;
  // Name of the skip block whose region this node is (cxx/blocks.h).
  std::string block;
  // Arguments of the block after its name.
  size_t args_begin = 0, args_end = 0;
  // The object of the block lives until the end of the list (cxx/blocks.h).
  bool outlived = false;
};

struct Tree {
  std::shared_ptr<Texts> texts;  // of the tokens
  std::vector<Token> tokens;
  // For each bracket its partner; for other tokens the token itself.
  std::vector<size_t> match;
  // nodes[0] is the root. Parents come before their children.
  std::vector<Node> nodes;
  // Why the tree cannot be trusted. "": it can.
  std::string error;
  int error_line = 0;
  // Line of a skip block in a form that cannot be read. 0: none.
  int unclear_line = 0;

  [[nodiscard]] const Node& node(int index) const { return nodes[static_cast<size_t>(index)]; }
  [[nodiscard]] const std::string& text(size_t token) const { return tokens[token].text.str(); }
  [[nodiscard]] bool is(size_t token, std::string_view text) const {
    return token < tokens.size() && tokens[token].text.is(text);
  }
  [[nodiscard]] bool word(size_t token) const {
    return token < tokens.size() && tokens[token].kind == TokenKind::kWord;
  }
  // Returns the line where the node begins.
  [[nodiscard]] int line(int index) const;
  // Returns the next node in the list of the parent. -1 after the last.
  [[nodiscard]] int next_sibling(int index) const;
  [[nodiscard]] int previous_sibling(int index) const;
  // Returns the next token, after the closing bracket if this token opens one.
  [[nodiscard]] size_t skip(size_t token) const {
    return match[token] > token ? match[token] + 1 : token + 1;
  }
};

// Never throws. Sets an error for unbalanced brackets, also within one branch of an #if or one macro (a
// compiler could then see another tree), and for files beyond any sensible size. Trees to be compared may
// share `texts`.
Tree parse(std::string_view text, std::shared_ptr<Texts> texts = std::make_shared<Texts>());

// Adds every word in the file, also those in preprocessor lines. Skips texts whose ids are in `seen` (from
// another tree with the same texts).
void add_words(const Tree& tree, std::vector<bool>* seen, std::unordered_set<std::string>& words);

// Returns whether two token ranges, of one or two trees, are the same code.
bool same_tokens(const Tree& a, size_t a_begin, size_t a_end, const Tree& b, size_t b_begin, size_t b_end);

}  // namespace flor::probes
