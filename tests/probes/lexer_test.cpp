#include "probes/cxx/lexer.h"

#include <gtest/gtest.h>

namespace flor::probes {
namespace {

std::vector<std::string> texts(const std::string& source) {
  std::vector<std::string> out;
  for (const Token& token : lex(source).tokens) out.push_back(token.text);
  return out;
}

using Texts = std::vector<std::string>;

TEST(Lexer, TakesTheLongestPunctuator) {
  EXPECT_EQ(texts("a<<=b->*c::d+++e"), (Texts{"a", "<<=", "b", "->*", "c", "::", "d", "++", "+", "e"}));
}

TEST(Lexer, KeepsNumbersWhole) {
  EXPECT_EQ(texts("1'000'000u 0x1p-3 1.5e+3f .5 1..2"),
            (Texts{"1'000'000u", "0x1p-3", "1.5e+3f", ".5", "1..2"}));
  EXPECT_EQ(texts("f(1,'a')"), (Texts{"f", "(", "1", ",", "'a'", ")"}));
}

TEST(Lexer, KeepsLiteralsWhole) {
  EXPECT_EQ(texts(R"(u8"a\"}" L'\'' "x"s)"), (Texts{R"(u8"a\"}")", R"(L'\'')", "\"x\"s"}));
  EXPECT_EQ(texts("R\"--(a)\"b\n)--\" c"), (Texts{"R\"--(a)\"b\n)--\"", "c"}));
}

TEST(Lexer, DropsComments) {
  EXPECT_EQ(texts("a/*{\n}*/b// \"c \\\n d\ne"), (Texts{"a", "b", "e"}));
}

TEST(Lexer, MakesADirectiveOneToken) {
  EXPECT_EQ(texts("  #  define F(x)  \\\n  g( x ) // why\nh"), (Texts{"#define F(x) g( x )", "h"}));
  EXPECT_EQ(texts("#define S \"//\" /* a\n b */ c\nd"), (Texts{"#define S \"//\" c", "d"}));
  EXPECT_EQ(texts("#define Q '\"'\nd"), (Texts{"#define Q '\"'", "d"}));
  EXPECT_EQ(texts("a # b"), (Texts{"a", "#", "b"}));
}

TEST(Lexer, CountsLines) {
  const Lexed lexed = lex("a\n/*\n*/b \\\n c R\"(\n\n)\" d\r\ne");
  std::vector<int> lines;
  for (const Token& token : lexed.tokens) lines.push_back(token.line);
  EXPECT_EQ(lines, (std::vector<int>{1, 3, 4, 4, 6, 7}));
}

TEST(Lexer, NamesWhatDoesNotEnd) {
  EXPECT_EQ(lex("a\n\"b").error, "a string that does not end");
  EXPECT_EQ(lex("a\n\"b").error_line, 2);
  EXPECT_EQ(lex("'b\n'").error, "a character that does not end");
  EXPECT_EQ(lex("R\"x(b)\"").error, "a raw string that does not end");
  EXPECT_EQ(lex("/*").error, "a comment that does not end");
}

TEST(Lexer, ReadsPlainStrings) {
  const auto value = [](const std::string& source) {
    std::string out = "none";
    plain_string(lex(source).tokens.at(0), &out);
    return out;
  };
  EXPECT_EQ(value("\"a b\""), "a b");
  EXPECT_EQ(value("R\"x(a)x\""), "a");
  EXPECT_EQ(value("\"a\\n\""), "none");
  EXPECT_EQ(value("\"a\"s"), "none");
  EXPECT_EQ(value("u8\"a\""), "none");
  EXPECT_EQ(value("a"), "none");
}

}  // namespace
}  // namespace flor::probes
