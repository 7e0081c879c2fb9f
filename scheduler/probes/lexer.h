// C++ source text as tokens: no comments, no white space.
#pragma once

#include <string>
#include <vector>

namespace flor::probes {

enum class TokenKind { kWord, kNumber, kString, kChar, kPunctuator, kDirective };

struct Token {
  TokenKind kind;
  std::string text;  // a directive is one token: its whole logical line, comments out, white space squeezed
  int line;          // where it begins, from 1
};

struct Lexed {
  std::vector<Token> tokens;
  std::string error;  // "" or what cannot be read, e.g. "a string that does not end"
  int error_line = 0;
};

// Linear in the text. Digraphs for braces come out as braces.
Lexed lex(const std::string& text);

// The tokens inside a directive, without its '#'. What cannot be read in there is left out.
std::vector<Token> directive_tokens(const Token& directive);

// The text of an ordinary or raw string literal without prefix, suffix and escapes; false for any other
// token.
bool plain_string(const Token& token, std::string* value);

}  // namespace flor::probes
