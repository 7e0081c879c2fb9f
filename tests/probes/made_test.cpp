// What runs where an object is made, or a function is called, without a word that says so.
#include <gtest/gtest.h>

#include "changed.h"

namespace flor::probes {
namespace {

TEST(Made, AConstructorRunsWhereNoTextNamesIt) {
  const std::string t = "int g = 0; struct T { T() { ++g; } };";
  expect_executed({
      {t, "", "T t;", "g"},
      {t, "", "std::vector<T> v(3);", "g"},
      {t, "", "auto v = std::make_shared<T>();", "g"},
      {t, "std::optional<T> o;", "o.emplace();", "g"},
      {t + " struct W { T t; };", "", "W w;", "g"},
      {t + " struct W : T {};", "", "W w;", "g"},
      {"int g = 0; void hit() { ++g; } struct T { T() { hit(); } }; struct W { T t; };", "", "W w;", "g"},
  });
  expect_skipped(
      {{"int g = 0; struct T { int n; T() : n(3) {} }; struct W { T t; };", "", "W w;", "g"},
       {"int g = 0; struct T { T(int& n); }; T::T(int& n) { ++g; }", "int n = 0; T t(n);", "", "g"}});
}

TEST(Made, AnInitializerOfAMemberRunsWithIt) {
  expect_executed({
      {"int g = 0; struct T { int q = ++g; };", "", "T t;", "g"},
      {"int g = 0; int next() { return ++g; } struct T { int id = next(); };", "", "T t;", "g"},
  });
}

TEST(Made, ADefaultArgumentIsAnArgument) {
  expect_executed({
      {"int g = 0; int next() { return ++g; } void f(int x = next()) {}", "", "f();", "g"},
      {"int g = 0; int next() { return ++g; } void f(int x = next()); void f(int x) {}", "", "f();", "g"},
      {"int g = 0; struct S { int n(int x = ++g) { return x; } };", "S s;", "s.n();", "g"},
  });
  expect_skipped({{"int g = 0; void f(int x = 3, double y = 0.5) {}", "", "f();", "g"}});
}

TEST(Made, AGuardWithoutANameIsOne) {
  const std::string given = "struct G { double* d; ~G() { *d += 1; } };";
  const std::string made = "struct G { double* d; explicit G(double* x) : d(x) {} ~G() { *d += 1; } };";
  expect_executed({
      {given, "double s = 0;", "G{&s};", "s"},
      {given, "double s = 0;", "auto g = G{&s};", "s"},
      {given, "double s = 0;", "auto g = std::make_unique<G>(G{&s});", "s"},
      {made, "double s = 0;", "G(&s);", "s"},
      {made, "double s = 0;", "auto g = std::make_unique<G>(&s);", "s"},
  });
}

TEST(Made, AGuardWithoutAConstructorKeepsWhatItIsGiven) {
  const std::string by_pointer = "struct G { double* d = nullptr; ~G() { *d += 1; } };";
  const std::string by_reference = "struct G { double& d; ~G() { d += 1; } };";
  expect_executed({
      {by_pointer, "double s = 0;", "G g{&s};", "s"},
      {by_pointer, "double s = 0;", "G g = {&s};", "s"},
      {by_pointer, "double s = 0;", "G g; g.d = &s;", "s"},
      {by_reference, "double s = 0;", "G g{s};", "s"},
      {"", "std::vector<double> v(3); std::span<double> p(v);", "p[0] += 1;", "v[0]"},
  });
  expect_skipped({{"struct P { double x, y; };", "double s = 0;", "P p{s, s}; p.x += 1;", "s"}});
}

}  // namespace
}  // namespace flor::probes
