#include "scheduler/probes/lexer.h"

#include <array>
#include <cctype>
#include <cstring>

namespace flor::probes {
namespace {

bool word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool digit(char c) {
  return c >= '0' && c <= '9';
}

bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == '\n';
}

bool raw_prefix(const std::string& word) {
  return word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR";
}

bool literal_prefix(const std::string& word) {
  return word == "u8" || word == "u" || word == "U" || word == "L";
}

// Longest first. `>>` stays one token: only template prefixes care, and they count it twice.
constexpr std::array<const char*, 32> kPunctuators = {
    "<=>", "<<=", ">>=", "...", "->*", "::", "->", "++", "--", "==", "!=", "<=", ">=", "+=", "-=", "*=",
    "/=",  "%=",  "&=",  "|=",  "^=",  "&&", "||", "<<", ">>", ".*", "##", "<%", "%>", "<:", ":>", "%:"};

class Lexer {
 public:
  explicit Lexer(const std::string& text) : text_(text) {
    if (text_.compare(0, 3, "\xEF\xBB\xBF") == 0) pos_ = 3;
  }

  Lexed run() {
    while (pos_ < text_.size() && out_.error.empty()) step();
    return std::move(out_);
  }

 private:
  [[nodiscard]] char at(size_t pos) const { return pos < text_.size() ? text_[pos] : '\0'; }

  // The length of a backslash with its line end at pos, 0 if there is none. As gcc, it forgives blanks
  // between.
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
    out_.tokens.push_back({kind, text_.substr(begin, pos_ - begin), line});
    line_start_ = false;
  }

  void step() {
    const char c = at(pos_);
    if (const size_t length = splice(pos_)) return advance(length);
    if (blank(c)) {
      line_start_ = line_start_ || c == '\n';
      return advance(1);
    }
    if (skip_comment()) return;
    if (line_start_ && (c == '#' || (c == '%' && at(pos_ + 1) == ':'))) return directive();
    if (digit(c) || (c == '.' && digit(at(pos_ + 1)))) return number();
    if (c == '"' || c == '\'') return quoted(pos_, c, line_);
    if (word_char(c)) return word();
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
      const bool sign =
          (c == '+' || c == '-') && pos_ > begin && std::strchr("eEpP", at(pos_ - 1)) != nullptr;
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
      const std::string prefix = text_.substr(begin, pos_ - begin);
      if (next == '"' && raw_prefix(prefix)) return raw_string(begin);
      if (literal_prefix(prefix)) return quoted(begin, next, line_);
    }
    emit(TokenKind::kWord, begin, line_);
  }

  // A string or character literal, with its prefix from `begin` and a suffix of the user's.
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

  // With pos_ at the quote of a raw string: where it ends.
  [[nodiscard]] size_t raw_end() const {
    const size_t open = text_.find('(', pos_);
    if (open == std::string::npos || open - pos_ > 17) return std::string::npos;
    const std::string close = ")" + text_.substr(pos_ + 1, open - pos_ - 1) + "\"";
    const size_t end = text_.find(close, open);
    return end == std::string::npos ? end : end + close.size();
  }

  void punctuator() {
    const size_t begin = pos_;
    size_t length = 1;
    for (const char* candidate : kPunctuators) {
      if (text_.compare(pos_, std::strlen(candidate), candidate) == 0) {
        length = std::strlen(candidate);
        break;
      }
    }
    // std::vector<::flor::X>: not a digraph (the standard has this exception, too).
    if (text_.compare(begin, 3, "<::") == 0) length = 1;
    advance(length);
    emit(TokenKind::kPunctuator, begin, line_);
    std::string& text = out_.tokens.back().text;
    if (text == "<%") text = "{";
    if (text == "%>") text = "}";
    if (text == "<:") text = "[";
    if (text == ":>") text = "]";
  }

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
    out_.tokens.push_back({TokenKind::kDirective, std::move(text), line});
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

  const std::string& text_;
  size_t pos_ = 0;
  int line_ = 1;
  bool line_start_ = true;
  Lexed out_;
};

}  // namespace

Lexed lex(const std::string& text) {
  return Lexer(text).run();
}

std::vector<Token> directive_tokens(const Token& directive) {
  return lex(directive.text.substr(1)).tokens;
}

bool plain_string(const Token& token, std::string* value) {
  const std::string& text = token.text;
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
