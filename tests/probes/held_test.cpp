// Which changes of a block its arguments hold: a probe behind it that reads another one makes it execute.
#include <gtest/gtest.h>

#include "tests/probes/corpus.h"

namespace flor::probes {
namespace {

// `probe` reads what `change` in the block changes; does the block stay skipped?
bool stays_skipped(const std::string& argument, const std::string& change,
                   const std::string& probe = "read(a, x)") {
  const std::string recorded =
      "#include <flor/flor.h>\nint main() {\n"
      "  for (int64_t epoch : flor::loop(\"epoch\", 10)) {\n"
      "    if (flor::SkipBlock train{\"train\", net, " +
      argument + "}; train.step_into()) {\n      " + change +
      ";\n    }\n    double mean = total / 10;\n    // behind\n  }\n}\n";
  const std::string present = edit(recorded, {insert("    // behind\n", "flor::log(\"a\", " + probe + ");")});
  const Decision decision = analyse({{"/exp/train.cpp", recorded}}, {{"/exp/train.cpp", present}}, {}, {});
  EXPECT_TRUE(decision.from_start || decision.lead_in.empty());
  return !decision.from_start;
}

TEST(Held, AVariableIsWithAllThatLiesInIt) {
  for (const char* change : {"a = 1", "a.b = 1", "a[3].b++", "++a.b", "a.b.push_back(1)", "a::b = 1"})
    EXPECT_TRUE(stays_skipped("a", change)) << change;
  EXPECT_TRUE(stays_skipped("this->a", "this->a.b = 1"));
}

// A module holder's module has members that are no state.
TEST(Held, WhatAPointerLeadsToIsWhereThatIsGiven) {
  for (const char* change : {"a->b = 1", "a->b.c += 1", "*a = 1", "++*a", "++a->b", "(*a) = 1"})
    EXPECT_FALSE(stays_skipped("a", change)) << change;
  for (const char* change : {"a->b = 1", "a->b.c += 1", "*a = 1", "++*a", "++a->b"})
    EXPECT_TRUE(stays_skipped("*a", change)) << change;
  for (const char* change : {"a = next(a)", "++a", "a.b = 1"})
    EXPECT_FALSE(stays_skipped("*a", change)) << change;
}

TEST(Held, AMemberIsWithoutItsSiblings) {
  for (const char* change : {"a.b = 1", "a.b.c += 1", "++a.b", "a.b[2] = 1"})
    EXPECT_TRUE(stays_skipped("a.b", change)) << change;
  for (const char* change : {"a = 1", "a.c = 1", "a.bb = 1", "++a.c", "a.c.push_back(1)", "a[1].b = 1"})
    EXPECT_FALSE(stays_skipped("a.b", change)) << change;
  EXPECT_TRUE(stays_skipped("a->b", "a->b += 1"));
}

TEST(Held, WhatAnExpressionHoldsIsNotKnown) {
  for (const char* argument : {"a[0]", "part_of(a)", "a.part()", "a + x"})
    EXPECT_FALSE(stays_skipped(argument, "a = 1")) << argument;
  EXPECT_TRUE(stays_skipped("a[0], a", "a = 1"));
  EXPECT_TRUE(stays_skipped("b, x", "x += 1"));
  EXPECT_FALSE(stays_skipped("b, c", "x += 1"));
}

TEST(Held, AMemberOfTheObjectIsNoLocalVariable) {
  EXPECT_FALSE(stays_skipped("b", "double a = 0; this->a = a", "this->a"));
  EXPECT_FALSE(stays_skipped("a", "this->a += 1", "this->a"));
  EXPECT_FALSE(stays_skipped("b", "this->a += 1", "a"));
  EXPECT_FALSE(stays_skipped("b", "this->a += 1", "this->mean()"));
  EXPECT_FALSE(stays_skipped("b", "this->a += 1", "report(*this)"));
  EXPECT_FALSE(stays_skipped("b", "this->Base::a += 1", "this->a"));
  EXPECT_FALSE(stays_skipped("b", "a += 1", "this->a"));
  EXPECT_FALSE(stays_skipped("b", "a = make()", "a(x)")) << "a variable may be called";
  EXPECT_FALSE(stays_skipped("b", "a.at(0).n = 1", "a.at(0).n"));
}

TEST(Held, ASiblingOfWhatIsStaleIsNot) {
  EXPECT_TRUE(stays_skipped("a.net", "a.step += 1", "a.net->weight.norm()"));
  EXPECT_FALSE(stays_skipped("a.net", "a.step += 1", "a.step"));
  EXPECT_FALSE(stays_skipped("a.net", "a.step += 1", "a.mean()"));
  EXPECT_FALSE(stays_skipped("a.net", "a.step += 1", "report(a)"));
}

TEST(Held, AReferenceStandsForWhatItIsBoundTo) {
  EXPECT_FALSE(stays_skipped("b", "for (auto& m : a) { m.sum += 1; }"));
  EXPECT_FALSE(stays_skipped("b", "auto& s = a.stats; s.n += 1"));
  EXPECT_FALSE(stays_skipped("b", "auto* s = &a.stats; s->n += 1"));
  EXPECT_FALSE(stays_skipped("b", "auto& s = stats_of(a); s.n += 1"));
  EXPECT_FALSE(stays_skipped("b", "auto& s = a; for (auto& t : s) { t = 1; }"));
  EXPECT_TRUE(stays_skipped("a", "auto& s = a.stats; s.n += 1"));
  EXPECT_TRUE(stays_skipped("b", "auto s = a; s.n += 1"));
  EXPECT_TRUE(stays_skipped("b", "const auto& s = a; x2 = s.n", "a"));
}

TEST(Held, ANameOfAnInnerScopeHidesNothingBehindIt) {
  EXPECT_FALSE(stays_skipped("b", "{ double a = 0; } a = 1"));
  EXPECT_TRUE(stays_skipped("b", "double a = 0; { a = 1; }", "y"));
  EXPECT_TRUE(stays_skipped("b", "for (int a = 0; a < 3; ++a) { a += 1; }"));
  EXPECT_FALSE(stays_skipped("b", "for (int a = 0; a < 3; ++a) { } a = 2"));
}

TEST(Held, OfATargetThatCannotBeReadEveryVariableIsChanged) {
  for (const char* change : {"std::tie(y, a) = f()", "(*a).b = 1", "::a += 1", "++::a", "*(a + 1) = 1",
                             "std::get<0>(a) = 1", "(a) = 1", "stats_of(a).n += 1", "b(a) = 1"})
    EXPECT_FALSE(stays_skipped("b", change)) << change;
  for (const char* change : {"auto [y, a] = f()", "const auto& [y, a] = f()"})
    EXPECT_TRUE(stays_skipped("b", change, "x")) << change;
  EXPECT_TRUE(stays_skipped("b", "std::tie(y, z) = f()", "std::abs(x)")) << "std is no variable";
}

TEST(Held, WhatIsComputedFromAStaleVariableIsStale) {
  EXPECT_FALSE(stays_skipped("b", "total += 1", "mean"));
  EXPECT_TRUE(stays_skipped("total", "total += 1", "mean"));
}

}  // namespace
}  // namespace flor::probes
