// What the classes of a program do where no call stands: operators, conversions, unions, static members,
// maps.
#include <gtest/gtest.h>

#include "changed.h"

namespace flor::probes {
namespace {

TEST(Objects, MembersOfAUnionAreOne) {
  expect_executed({
      {"union U { int i; float f; };", "U u{0};", "u.f = 3;", "u.i"},
      {"union U { int i; float f; };", "union U u{0};", "u.f = 3;", "u.i"},
      {"union U { int i; float f; void set(float x) { f = x; } };", "U u{0};", "u.set(2);", "u.i"},
      {"struct S { union { int i; float f; }; };", "S s;", "s.f = 3;", "s.i"},
      {"union U { int i; float f; }; struct S { U u; };", "S s;", "s.u.f = 3;", "s.u.i"},
  });
  expect_skipped({{"union U { int i; float f; }; struct S { U u; int n; };", "S s;", "s.u.f = 3;", "s.n"}});
}

TEST(Objects, AStaticMemberIsOneForAll) {
  const std::string s = "struct S { static int n; static int& ref() { return n; } }; int S::n = 0;";
  expect_executed({{s, "S s;", "s.n += 1;", "S::n"},
                   {s, "S s;", "s.ref() += 1;", "S::n"},
                   {s, "S s;", "S::ref() += 1;", "s.n"}});
}

TEST(Objects, AMapGrowsWhereItIsRead) {
  expect_executed({
      {"", "std::map<int, double> m;", "double z = m[3];", "m.size()"},
      {"struct S { std::map<int, double> m; double get(int k) { return m[k]; } };", "S s;",
       "double z = s.get(3);", "s.m.size()"},
      {"", "std::map<int, double> m; auto& q = m;", "double z = q[3];", "m.size()"},
      {"using Counts = std::unordered_map<int, int>;", "Counts m;", "int z = m[3];", "m.size()"},
      {"", "std::vector<std::map<int, int>> m(3);", "int z = m[0][3];", "m[0].size()"},
      {"int look(std::map<int, int>& m) { return m[3]; }", "std::map<int, int> m;", "int z = look(m);",
       "m.size()"},
  });
  expect_skipped({
      {"", "std::vector<double> v(3); std::map<int, int> m;", "double q = v[1];", "v[1]"},
      {"", "std::map<int, int> m; auto t = torch::ones({3});", "auto q = t[1] + t[2];", "t.sum()"},
      {"", "std::map<int, int> m;", "auto q = m.at(1) + m.count(2);", "m.size()"},
  });
}

TEST(Objects, OperatorsAreMethods) {
  expect_executed({
      {"struct S { int hits = 0; double operator[](int i) { ++hits; return 1; } };", "S s;",
       "double z = s[1];", "s.hits"},
      {"struct S { int hits = 0; double operator*() { ++hits; return 1; } };", "S s;", "double z = *s;",
       "s.hits"},
      {"double g = 0; struct S { double& operator[](int i) { return g; } };", "S s;", "s[1] += 1;", "g"},
      {"double g = 0; struct S { double& operator*() { return g; } };", "S s;", "*s += 1;", "g"},
      {"struct In { double v = 0; }; In g; struct S { In* operator->() { return &g; } };", "S s;",
       "s->v += 1;", "g.v"},
      {"struct In { double v = 0; }; struct S { In i; In* operator->() { return &i; } };", "S s;",
       "s->v += 1;", "s.i.v"},
  });
}

TEST(Objects, AConversionIsACall) {
  const std::string c = "struct C { int n = 0; operator double() { n++; return 1; } }; void f(double d) {}";
  for (const char* change :
       {"if (c) {}", "double d = c;", "double d = 1 + c;", "f(c);", "double d = (double)c;",
        "double d = static_cast<double>(c);", "bool b = !c;", "while (c && epoch > 9) {}"})
    expect_executed({{c, "C c;", change, "c.n"}});
  expect_executed(
      {{"struct C { int n = 0; explicit operator bool() { n++; return true; } }; struct S { C c; };", "S s;",
        "if (s.c) {}", "s.c.n"}});
  expect_skipped(
      {{"struct C { int n = 0; operator double() const { return n; } };", "C c;", "double d = c;", "c.n"}});
}

}  // namespace
}  // namespace flor::probes
