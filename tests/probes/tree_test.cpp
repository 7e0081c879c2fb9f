#include "probes/cxx/tree.h"

#include <gtest/gtest.h>

#include "probes/cxx/declaration.h"
#include "probes/cxx/tree_diff.h"

namespace flor::probes {
namespace {

NodeKind kind_in_function(const std::string& statement) {
  const Tree tree = parse("void f() { " + statement + " }");
  EXPECT_EQ(tree.error, "");
  return tree.node(tree.node(1).children.at(0)).kind;
}

NodeKind kind_outside(const std::string& text) {
  const Tree tree = parse(text);
  EXPECT_EQ(tree.error, "");
  return tree.node(1).kind;
}

TEST(Tree, KnowsWhatABraceOpensInAFunction) {
  EXPECT_EQ(kind_in_function("if (a) { b; }"), NodeKind::kControl);
  EXPECT_EQ(kind_in_function("if constexpr (a) { b; }"), NodeKind::kControl);
  EXPECT_EQ(kind_in_function("for (auto x : {1, 2}) { b; }"), NodeKind::kLoop);
  EXPECT_EQ(kind_in_function("if (a) while (b) { c; }"), NodeKind::kLoop);
  EXPECT_EQ(kind_in_function("do { a; } while (b);"), NodeKind::kLoop);
  EXPECT_EQ(kind_in_function("switch (a) { case 1: b; }"), NodeKind::kSwitch);
  EXPECT_EQ(kind_in_function("{ a; }"), NodeKind::kPlain);
  EXPECT_EQ(kind_in_function("struct S { int a; };"), NodeKind::kClass);
  EXPECT_EQ(kind_in_function("EACH(x) { a; }"), NodeKind::kMacro);
  EXPECT_EQ(kind_in_function("auto v = std::vector<int>{1, 2};"), NodeKind::kLeaf);
  EXPECT_EQ(kind_in_function("auto f = [&](int a) mutable { return a; };"), NodeKind::kLeaf);
  EXPECT_EQ(kind_in_function("auto f = []() -> int { return 1; };"), NodeKind::kLeaf);
  EXPECT_EQ(kind_in_function("return {1, 2};"), NodeKind::kLeaf);
}

TEST(Tree, KnowsWhatABraceOpensOutside) {
  EXPECT_EQ(kind_outside("int f(int a = 3) const noexcept { return 1; }"), NodeKind::kFunction);
  EXPECT_EQ(kind_outside("template <class T, int N = (3)> T f(T a) { return a; }"), NodeKind::kFunction);
  EXPECT_EQ(kind_outside("auto f() -> std::vector<int> { return {}; }"), NodeKind::kFunction);
  EXPECT_EQ(kind_outside("S::S() : a(1), b{2} { c(); }"), NodeKind::kFunction);
  EXPECT_EQ(kind_outside("bool operator==(S a, S b) { return true; }"), NodeKind::kFunction);
  EXPECT_EQ(kind_outside("namespace a::b { int c; }"), NodeKind::kNamespace);
  EXPECT_EQ(kind_outside("extern \"C\" { int c; }"), NodeKind::kNamespace);
  EXPECT_EQ(kind_outside("template <class T> struct S : T { int c; };"), NodeKind::kClass);
  EXPECT_EQ(kind_outside("enum class E : int { a, b };"), NodeKind::kClass);
  EXPECT_EQ(kind_outside("auto f = [](int a) { return a; };"), NodeKind::kLeaf);
  EXPECT_EQ(kind_outside("std::function<void()> f{g};"), NodeKind::kLeaf);
}

TEST(Tree, ReadsDeclarations) {
  const auto name = [](const std::string& text) {
    const Tree tree = parse(text);
    const auto found = declaration(tree, 0, tree.tokens.size());
    return found ? found->type + (found->indirect ? " & " : " ") + found->name : "";
  };
  EXPECT_EQ(name("const auto& a = b.c();"), "auto & a");
  EXPECT_EQ(name("std::map<int, std::vector<int>> a;"), "std::map a");
  EXPECT_EQ(name("unsigned long a{3};"), "unsigned long a");
  EXPECT_EQ(name("int a = 0, b;"), "");
  EXPECT_EQ(name("a = b;"), "");
  EXPECT_EQ(name("return b;"), "");
  EXPECT_EQ(name("a.b(c);"), "");
}

std::string script(const std::string& before, const std::string& after) {
  const Tree a = parse(before), b = parse(after);
  std::string out;
  for (const Edit& edit : diff(a, b)) {
    const bool added = edit.kind == EditKind::kAdded;
    const Tree& tree = added ? b : a;
    const Node& node = tree.node(added ? edit.present : edit.recorded);
    out += (added ? "+" : "-") + tree.text(node.begin) + std::to_string(edit.line) + " ";
  }
  return out;
}

TEST(TreeDiff, FindsOneInsertedStatementAmongEqualOnes) {
  EXPECT_EQ(script("a; a;", "a; a; a;"), "+a1 ");
  EXPECT_EQ(script("a;\nb;\na;", "a;\nb;\nc;\na;"), "+c3 ");
  EXPECT_EQ(script("a; b;", "b; a;").size(), 8U);
}

TEST(TreeDiff, PairsCompoundsByTheirHeads) {
  const std::string loop = "for (;;) { a; b; }\n";
  EXPECT_EQ(script("void f() {\n" + loop + loop + "}", "void f() {\nfor (;;) { a; x; b; }\n" + loop + "}"),
            "+x2 ");
  EXPECT_EQ(script("void f() {\n" + loop + loop + "}", "void f() {\n" + loop + "for (;;) { a; x; b; }\n}"),
            "+x3 ");
  EXPECT_EQ(script("void f() { if (a) { b; } c; }", "void f() { if (a) { b; c; } }"), "+c1 -c1 ");
}

TEST(TreeDiff, GivesUpOnListsBeyondItsSize) {
  std::string a = "void f() {", b = "void f() {";
  for (int i = 0; i < 2500; ++i) {
    a += "a" + std::to_string(i) + ";";
    b += "b" + std::to_string(i) + ";";
  }
  const Tree before = parse(a + "}"), after = parse(b + "}");
  const std::vector<Edit> edits = diff(before, after);
  ASSERT_EQ(edits.size(), 1U);
  EXPECT_EQ(edits[0].kind, EditKind::kTooMany);
}

// Readers of statements recurse. A text of nothing but heads would exhaust the stack.
TEST(Tree, RefusesStatementsThatNestTooDeeply) {
  const auto error_of = [](int times, const std::string& head, const std::string& end) {
    std::string text = "void f() { ";
    for (int i = 0; i < times; ++i) text += head;
    return parse(text + end + " }").error;
  };
  for (const std::string head : {"if (a) ", "for (;;) ", "while (a) ", "do ", "if (a) b(); else if (c) "}) {
    EXPECT_EQ(error_of(100, head, "b();"), "") << head;
    EXPECT_EQ(error_of(20'000, head, "b();"), "statements nested too deeply") << head;
  }
  EXPECT_EQ(error_of(20'000, "if (a) b(); ", ""), "");
  EXPECT_EQ(error_of(20'000, "if (a) { b(); } else { c(); } ", ""), "");
  EXPECT_EQ(error_of(10'000, "for (int i = 0; i < 3; ++i) { if (a) b([&] { if (c) d(); }); } ", ""), "");
}

}  // namespace
}  // namespace flor::probes
