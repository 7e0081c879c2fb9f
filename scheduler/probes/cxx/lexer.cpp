#include "probes/cxx/lexer.h"

#include <array>
#include <cstdint>
#include <utility>

namespace flor::probes {
namespace {

// Classes of characters.
enum ByteKind : uint8_t { kOther = 0, kBlank = 1, kDigit = 2, kLetter = 4, kLongPunctuator = 8 };

constexpr std::array<uint8_t, 256> byte_kinds() {
  std::array<uint8_t, 256> kinds{};
  for (const char c : {' ', '\t', '\r', '\v', '\f', '\n'}) kinds[static_cast<unsigned char>(c)] = kBlank;
  for (size_t c = '0'; c <= '9'; ++c) kinds[c] = kDigit;
  for (size_t c = 'a'; c <= 'z'; ++c) kinds[c] = kinds[c - 'a' + 'A'] = kLetter;
  for (size_t c = 0x80; c < kinds.size(); ++c) kinds[c] = kLetter;
  kinds['_'] = kinds['$'] = kLetter;
  for (const char c : {'<', '>', '.', '-', ':', '+', '=', '!', '*', '/', '%', '&', '|', '^', '#'})
    kinds[static_cast<unsigned char>(c)] = kLongPunctuator;
  return kinds;
}

constexpr std::array<uint8_t, 256> kBytes = byte_kinds();

bool is_a(char c, unsigned kinds) {
  return (kBytes[static_cast<unsigned char>(c)] & kinds) != 0;
}

bool word_char(char c) {
  return is_a(c, kLetter | kDigit);
}

bool digit(char c) {
  return is_a(c, kDigit);
}

bool blank(char c) {
  return is_a(c, kBlank);
}

bool is_exponent(char c) {
  return c == 'e' || c == 'E' || c == 'p' || c == 'P';
}

bool raw_prefix(std::string_view word) {
  return word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR";
}

bool literal_prefix(std::string_view word) {
  return word == "u8" || word == "u" || word == "U" || word == "L";
}

// Longest first. `>>` stays one token: only template prefixes care, and they count it twice.
constexpr std::array<std::string_view, 32> kPunctuators = {
    "<=>", "<<=", ">>=", "...", "->*", "::", "->", "++", "--", "==", "!=", "<=", ">=", "+=", "-=", "*=",
    "/=",  "%=",  "&=",  "|=",  "^=",  "&&", "||", "<<", ">>", ".*", "##", "<%", "%>", "<:", ":>", "%:"};

class Lexer {
 public:
  Lexer(std::string_view text, std::shared_ptr<Texts> texts) : text_(text) {
    if (text_.compare(0, 3, "\xEF\xBB\xBF") == 0) pos_ = 3;
    out_.texts = std::move(texts);
    out_.tokens.reserve(text.size() / 3);
  }

  Lexed run() {
    while (pos_ < text_.size() && out_.error.empty()) step();
    return std::move(out_);
  }

 private:
  [[nodiscard]] char at(size_t pos) const { return pos < text_.size() ? text_[pos] : '\0'; }

  // Returns the length of a backslash with its line end at pos, 0 if there is none. Allows blanks between, as
  // gcc does.
  [[nodiscard]] size_t splice(size_t pos) const {
    if (at(pos) != '\\') return 0;
    size_t end = pos + 1;
    while (at(end) == ' ' || at(end) == '\t' || at(end) == '\r') ++end;
    return at(end) == '\n' ? end + 1 - pos : 0;
  }

  void advance(size_t count) {
    for (; count > 0 && pos_ < text_.size(); --count) line_ += text_[pos_++] == '\n' ? 1 : 0;
  }

  void fail(const char* what, int line) {
    out_.error = what;
    out_.error_line = line;
  }

  void emit(TokenKind kind, size_t begin, int line) {
    out_.tokens.push_back({kind, line, out_.texts->keep(text_.substr(begin, pos_ - begin))});
    line_start_ = false;
  }

  void step() {
    for (; blank(at(pos_)); ++pos_) {
      if (text_[pos_] != '\n') continue;
      line_start_ = true;
      ++line_;
    }
    if (pos_ == text_.size()) return;
    const char c = text_[pos_];
    if (is_a(c, kLetter)) return word();
    if (const size_t length = splice(pos_)) return advance(length);
    if (skip_comment()) return;
    if (line_start_ && (c == '#' || (c == '%' && at(pos_ + 1) == ':'))) return directive();
    if (digit(c) || (c == '.' && digit(at(pos_ + 1)))) return number();
    if (c == '"' || c == '\'') return quoted(pos_, c, line_);
    punctuator();
  }

  bool skip_comment() {
    if (at(pos_) != '/') return false;
    if (at(pos_ + 1) == '/') {
      while (pos_ < text_.size() && at(pos_) != '\n') advance(splice(pos_) != 0 ? splice(pos_) : 1);
      return true;
    }
    if (at(pos_ + 1) != '*') return false;
    const size_t end = text_.find("*/", pos_ + 2);
    if (end == std::string::npos) {
      fail("a comment that does not end", line_);
    } else {
      advance(end + 2 - pos_);
    }
    return true;
  }

  void number() {
    const size_t begin = pos_;
    while (pos_ < text_.size()) {
      const char c = at(pos_);
      const bool sign = (c == '+' || c == '-') && pos_ > begin && is_exponent(at(pos_ - 1));
      const bool separator = c == '\'' && word_char(at(pos_ + 1));
      if (!word_char(c) && c != '.' && !sign && !separator) break;
      ++pos_;
    }
    emit(TokenKind::kNumber, begin, line_);
  }

  void word() {
    const size_t begin = pos_;
    while (word_char(at(pos_)) && pos_ < text_.size()) ++pos_;
    const char next = at(pos_);
    if (next == '"' || next == '\'') {
      const std::string_view prefix = text_.substr(begin, pos_ - begin);
      if (next == '"' && raw_prefix(prefix)) return raw_string(begin);
      if (literal_prefix(prefix)) return quoted(begin, next, line_);
    }
    emit(TokenKind::kWord, begin, line_);
  }

  // Reads a string or character literal, with its prefix from `begin` and a user-defined suffix.
  void quoted(size_t begin, char quote, int line) {
    advance(1);
    while (at(pos_) != quote) {
      if (pos_ >= text_.size() || at(pos_) == '\n') {
        return fail(quote == '"' ? "a string that does not end" : "a character that does not end", line);
      }
      const size_t length = splice(pos_);
      advance(length != 0 ? length : (at(pos_) == '\\' ? 2 : 1));
    }
    advance(1);
    while (word_char(at(pos_)) && pos_ < text_.size()) ++pos_;
    emit(quote == '"' ? TokenKind::kString : TokenKind::kChar, begin, line);
  }

  void raw_string(size_t begin) {
    const int line = line_;
    const size_t end = raw_end();
    if (end == std::string::npos) return fail("a raw string that does not end", line);
    advance(end - pos_);
    while (word_char(at(pos_)) && pos_ < text_.size()) ++pos_;
    emit(TokenKind::kString, begin, line);
  }

  // Returns where the raw string ends whose quote is at pos_.
  [[nodiscard]] size_t raw_end() const {
    const size_t open = text_.find('(', pos_);
    if (open == std::string::npos || open - pos_ > 17) return std::string::npos;
    const std::string close = ")" + std::string(text_.substr(pos_ + 1, open - pos_ - 1)) + "\"";
    const size_t end = text_.find(close, open);
    return end == std::string::npos ? end : end + close.size();
  }

  void punctuator() {
    const size_t begin = pos_;
    advance(punctuator_length());
    emit(TokenKind::kPunctuator, begin, line_);
    const std::string_view text = text_.substr(begin, pos_ - begin);
    if (text == "<%") return replace_last("{");
    if (text == "%>") return replace_last("}");
    if (text == "<:") return replace_last("[");
    if (text == ":>") return replace_last("]");
  }

  [[nodiscard]] size_t punctuator_length() const {
    if (!is_a(text_[pos_], kLongPunctuator) || !is_a(at(pos_ + 1), kLongPunctuator)) return 1;
    // std::vector<::flor::X>: not a digraph (the standard has this exception, too).
    if (text_.compare(pos_, 3, "<::") == 0) return 1;
    for (const std::string_view candidate : kPunctuators) {
      if (text_.compare(pos_, candidate.size(), candidate) == 0) return candidate.size();
    }
    return 1;
  }

  void replace_last(std::string_view text) { out_.tokens.back().text = out_.texts->keep(text); }

  // A preprocessor line. White space is squeezed, not dropped: `#define F(x)` and `#define F (x)` differ.
  void directive() {
    const int line = line_;
    advance(at(pos_) == '#' ? 1 : 2);
    std::string text = "#";
    while (pos_ < text_.size() && at(pos_) != '\n' && out_.error.empty()) {
      if (const size_t length = splice(pos_)) {
        advance(length);
        squeeze(&text);
      } else if (blank(at(pos_)) || skip_comment()) {
        if (at(pos_) != '\n' && blank(at(pos_))) advance(1);
        squeeze(&text);
      } else if (at(pos_) == '"' || at(pos_) == '\'') {
        directive_quote(&text);
      } else {
        text += at(pos_);
        advance(1);
      }
    }
    if (text.back() == ' ') text.pop_back();
    out_.tokens.push_back({TokenKind::kDirective, line, out_.texts->keep(text)});
  }

  static void squeeze(std::string* text) {
    if (text->back() != ' ' && text->back() != '#') *text += ' ';
  }

  // A literal in a directive is copied as it is. An apostrophe may be prose (#error don't), so one without
  // a partner on its line is a character like any other.
  void directive_quote(std::string* text) {
    const char quote = at(pos_);
    const bool raw = quote == '"' && text->back() == 'R';
    size_t end = raw ? raw_end() : pos_ + 1;
    if (!raw) {
      while (end < text_.size() && at(end) != quote && at(end) != '\n') end += at(end) == '\\' ? 2 : 1;
      end = at(end) == quote ? end + 1 : std::string::npos;
    }
    const bool separator = quote == '\'' && word_char(text->back());
    if (end == std::string::npos || separator) end = pos_ + 1;
    *text += text_.substr(pos_, end - pos_);
    advance(end - pos_);
  }

  const std::string_view text_;
  size_t pos_ = 0;
  int line_ = 1;
  bool line_start_ = true;
  Lexed out_;
};

}  // namespace

Lexed lex(std::string_view text, std::shared_ptr<Texts> texts) {
  return Lexer(text, std::move(texts)).run();
}

std::vector<Token> directive_tokens(const Token& directive, const std::shared_ptr<Texts>& texts) {
  return lex(std::string_view(directive.text.str()).substr(1), texts).tokens;
}

bool defines_macro(const Token& token) {
  return token.kind == TokenKind::kDirective && token.text.str().compare(0, 7, "#define") == 0;
}

bool plain_string(const Token& token, std::string* value) {
  const std::string& text = token.text.str();
  if (token.kind != TokenKind::kString || text.back() != '"') return false;
  if (text.compare(0, 2, "R\"") == 0) {
    const size_t open = text.find('(');
    *value = text.substr(open + 1, text.rfind(')') - open - 1);
    return true;
  }
  if (text.front() != '"' || text.find('\\') != std::string::npos) return false;
  *value = text.substr(1, text.size() - 2);
  return true;
}

}  // namespace flor::probes
