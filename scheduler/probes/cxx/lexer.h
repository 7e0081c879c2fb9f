// Splits C++ source text into tokens, without comments and white space.
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
  // Line of its first character, from 1.
  int line;
  // A directive is one token: its whole logical line, without comments, white space squeezed.
  Text text;
};

struct Lexed {
  // The texts of the tokens.
  std::shared_ptr<Texts> texts;
  std::vector<Token> tokens;
  // "", or what cannot be read: "a string that does not end".
  std::string error;
  int error_line = 0;
};

// Runs in linear time. Turns digraphs for braces into braces. Sources to be compared may share `texts`.
Lexed lex(std::string_view text, std::shared_ptr<Texts> texts = std::make_shared<Texts>());

// Returns the tokens inside a directive, without its '#'. Leaves out what cannot be read.
std::vector<Token> directive_tokens(const Token& directive, const std::shared_ptr<Texts>& texts);

// Returns whether the token is a `#define`.
bool defines_macro(const Token& token);

// Gets the text of an ordinary or raw string literal without prefix, suffix and escapes. Returns false for
// any other token.
bool plain_string(const Token& token, std::string* value);

}  // namespace flor::probes
