#include "probes/cxx/brackets.h"

#include <set>

namespace flor::probes {
namespace {

constexpr size_t kMaxStatements = 500;  // one in the other

char partner(Text open) {
  return open == "(" ? ')' : (open == "[" ? ']' : '}');
}

bool opens(const Token& token) {
  return token.kind == TokenKind::kPunctuator &&
         (token.text == "(" || token.text == "[" || token.text == "{");
}

bool closes(const Token& token) {
  return token.kind == TokenKind::kPunctuator &&
         (token.text == ")" || token.text == "]" || token.text == "}");
}

bool balanced(const std::vector<Token>& tokens) {
  std::string expected;
  for (const Token& token : tokens) {
    if (opens(token)) expected += partner(token.text);
    if (!closes(token)) continue;
    if (expected.empty() || expected.back() != token.text.str()[0]) return false;
    expected.pop_back();
  }
  return expected.empty();
}

// Follows #if … #endif: a branch must close what it opens and nothing else.
class Branches {
 public:
  // False where the branches do not pair. `depth`: of open brackets in front of the directive.
  bool directive(const std::string& text, size_t depth) {
    if (text.compare(0, 3, "#if") == 0) {
      depths_.push_back(depth);
    } else if (text.compare(0, 3, "#el") == 0) {
      return !depths_.empty() && depths_.back() == depth;
    } else if (text.compare(0, 6, "#endif") == 0) {
      if (depths_.empty() || depths_.back() != depth) return false;
      depths_.pop_back();
    }
    return true;
  }
  [[nodiscard]] bool may_close(size_t depth) const { return depths_.empty() || depth > depths_.back(); }
  [[nodiscard]] bool all_ended() const { return depths_.empty(); }

 private:
  std::vector<size_t> depths_;
};

void fail(Tree* tree, const char* what, const Token& token) {
  tree->error = what;
  tree->error_line = token.line;
}

}  // namespace

void check_brackets(Tree* tree) {
  const std::vector<Token>& tokens = tree->tokens;
  tree->match.resize(tokens.size());
  std::vector<size_t> open;
  Branches branches;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    tree->match[i] = i;
    if (token.kind == TokenKind::kDirective) {
      if (!branches.directive(token.text, open.size())) return fail(tree, "unbalanced #if", token);
      if (defines_macro(token) && !balanced(directive_tokens(token, tree->texts)))
        return fail(tree, "a macro of half a pair", token);
    } else if (opens(token)) {
      open.push_back(i);
    } else if (closes(token)) {
      if (open.empty() || partner(tokens[open.back()].text) != token.text.str()[0]) {
        return fail(tree, "unbalanced brackets", token);
      }
      if (!branches.may_close(open.size())) return fail(tree, "unbalanced #if", token);
      tree->match[i] = open.back();
      tree->match[open.back()] = i;
      open.pop_back();
    }
  }
  if (!open.empty()) return fail(tree, "unbalanced brackets", tokens[open.back()]);
  if (!branches.all_ended()) fail(tree, "unbalanced #if", tokens.back());
}

void check_nesting(Tree* tree) {
  static const std::set<std::string> kHeads = {"if", "for", "while", "do", "else", "switch", "catch"};
  // The depth at each open bracket, and the one that is reached.
  std::vector<size_t> outer{0};
  size_t depth = 0;
  for (size_t i = 0; i < tree->tokens.size(); ++i) {
    const Token& token = tree->tokens[i];
    if (opens(token)) outer.push_back(depth);
    if (closes(token)) {
      depth = outer.back();
      outer.pop_back();
    }
    if ((tree->is(i, ";") || tree->is(i, "}")) && !tree->is(i + 1, "else")) depth = outer.back();
    if (token.kind == TokenKind::kWord && kHeads.count(token.text) != 0 && ++depth > kMaxStatements)
      return fail(tree, "statements nested too deeply", token);
  }
}

}  // namespace flor::probes
