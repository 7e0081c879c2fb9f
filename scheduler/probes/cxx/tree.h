// A source file as a tree of statements, read without a compiler.
//
// What the reader does not know (a macro, an initializer, a lambda) stays inside one statement, so that any
// edit in it is an edit of that statement: a wrong guess costs time, never a wrong row.
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

// Token ranges are half-open. A leaf has head_end == end. Of a compound, [begin, head_end) is what stands in
// front of its brace, and end lies behind the closing one.
struct Node {
  NodeKind kind = NodeKind::kLeaf;
  size_t begin = 0, head_end = 0, end = 0;
  int parent = -1;
  std::vector<int> children;
  std::string name;                     // of a function
  std::string block;                    // of the skip block whose region this node is (see blocks.h)
  size_t args_begin = 0, args_end = 0;  // the block's arguments behind its name
  bool outlived = false;                // the block's object lives on to the end of the list (see blocks.h)
};

struct Tree {
  std::shared_ptr<Texts> texts;  // of the tokens
  std::vector<Token> tokens;
  std::vector<size_t> match;  // of each bracket its partner; of any other token itself
  std::vector<Node> nodes;    // nodes[0] is the root; parents come before their children
  std::string error;          // why the tree is not to be trusted, "" if it is
  int error_line = 0;
  int unclear_line = 0;  // where a skip block stands in a form that cannot be read, 0: nowhere

  [[nodiscard]] const Node& node(int index) const { return nodes[static_cast<size_t>(index)]; }
  [[nodiscard]] const std::string& text(size_t token) const { return tokens[token].text.str(); }
  [[nodiscard]] bool is(size_t token, std::string_view text) const {
    return token < tokens.size() && tokens[token].text.is(text);
  }
  [[nodiscard]] bool word(size_t token) const {
    return token < tokens.size() && tokens[token].kind == TokenKind::kWord;
  }
  [[nodiscard]] int line(int index) const;  // where the node begins
  // The node behind this one in its parent's list, -1 behind the last.
  [[nodiscard]] int next_sibling(int index) const;
  [[nodiscard]] int previous_sibling(int index) const;
  // The token to look at behind this one, brackets taken as a whole.
  [[nodiscard]] size_t skip(size_t token) const {
    return match[token] > token ? match[token] + 1 : token + 1;
  }
};

// Never throws; what cannot be read gives an error: unbalanced brackets, also within one branch of an #if or
// in one macro (either would make the tree another one for the compiler), and files beyond any sensible size.
// Trees that are to be compared may share their texts.
Tree parse(std::string_view text, std::shared_ptr<Texts> texts = std::make_shared<Texts>());

// Adds every word in the file, those of its preprocessor lines included, but for texts that were `seen` (by
// their ids) before in another tree with the same texts.
void add_words(const Tree& tree, std::vector<bool>* seen, std::unordered_set<std::string>& words);

// Are these token ranges (of two trees, or one) the same code?
bool same_tokens(const Tree& a, size_t a_begin, size_t a_end, const Tree& b, size_t b_begin, size_t b_end);

}  // namespace flor::probes
