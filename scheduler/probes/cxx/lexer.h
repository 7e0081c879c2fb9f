// C++ source text as tokens: no comments, no white space.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "probes/cxx/texts.h"

namespace flor::probes {

enum class TokenKind { kWord, kNumber, kString, kChar, kPunctuator, kDirective };

struct Token {
  TokenKind kind;
  int line;   // where it begins, from 1
  Text text;  // a directive is one token: its whole logical line, comments out, white space squeezed
};

struct Lexed {
  std::shared_ptr<Texts> texts;  // of the tokens
  std::vector<Token> tokens;
  std::string error;  // "" or what cannot be read, e.g. "a string that does not end"
  int error_line = 0;
};

// Linear in the text. Digraphs for braces come out as braces. What is to be compared may share its texts.
Lexed lex(std::string_view text, std::shared_ptr<Texts> texts = std::make_shared<Texts>());

// The tokens inside a directive, without its '#', with the texts of the directive. What cannot be read in
// there is left out.
std::vector<Token> directive_tokens(const Token& directive, const std::shared_ptr<Texts>& texts);

// Is it a `#define`?
bool defines_macro(const Token& token);

// The text of an ordinary or raw string literal without prefix, suffix and escapes; false for any other
// token.
bool plain_string(const Token& token, std::string* value);

}  // namespace flor::probes
