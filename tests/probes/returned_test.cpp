// What is changed through the value of a call: a reference, a pointer or an iterator to something is no copy.
#include <gtest/gtest.h>

#include <string>

#include "changed.h"

namespace flor::probes {
namespace {

// A class with a method `of` whose value is changed in each way.
void expect_executed_by(const std::string& of, const std::string& change, const std::string& probe) {
  const std::string type =
      "struct Stats { int64_t n_ = 0; std::map<int, int64_t> counts_; std::vector<double> v_; " + of + " };";
  EXPECT_FALSE(stays_skipped({type, "Stats s;", change, probe})) << of << " | " << change;
}

TEST(Returned, AReferenceToAMemberIsTheMember) {
  const std::string of = "int64_t& of(int k) { return counts_[k]; }";
  for (const char* change : {"s.of(1) += 1;", "s.of(1)++;", "++s.of(1);", "s.of(1) = 3;",
                             "auto& q = s.of(1); q += 1;", "int64_t& q = s.of(1); q = 3;"}) {
    expect_executed_by(of, change, "s.of(1)");
    expect_executed_by(of, change, "s.counts_[1]");
  }
  expect_executed_by("int64_t& n() { return n_; } int64_t total() const { return n_; }", "s.n() = 5;",
                     "s.total()");
  expect_executed_by("std::vector<double>& v() { return v_; }", "s.v().push_back(1);", "s.v_.size()");
  expect_executed_by("std::vector<double>& v() { return v_; }", "s.v()[0] += 1;", "s.v()[0]");
  expect_executed_by("int64_t& at(int i, int j) { return counts_[i * 2 + j]; }", "s.at(1, 1)++;",
                     "s.counts_[3]");
}

TEST(Returned, ACallOperatorIsAMethod) {
  for (const char* change : {"s(1, 0) += 1;", "++s(1, 0);", "s(1, 0)++;"}) {
    expect_executed_by(
        "double& operator()(int i, int j) { return v_[i + j]; } double sum() { return v_[0]; }", change,
        "s.sum()");
  }
}

TEST(Returned, InWhateverFormTheTypeIs) {
  for (const char* of :
       {"auto& of(int k) { return v_[k]; }", "decltype(auto) of(int k) { return (v_[k]); }",
        "auto of(int k) -> double& { return v_[k]; }", "double volatile& of(int k) { return v_[k]; }",
        "double& of(int k) { auto& x = v_[k]; return x; }",
        "double& of(int k) { double* x = &v_[k]; return *x; }",
        "double& of(int k) { if (k > 3) return v_[0]; return v_[k]; }",
        "double& of(int k); }; double& Stats::of(int k) { return v_[k]; } struct Other {"}) {
    expect_executed_by(of, "s.of(1) += 1;", "s.v_[1]");
  }
  for (const char* of :
       {"double* of(int k) { return &v_[k]; }", "auto of(int k) -> double* { return &v_[k]; }",
        "auto of(int k) { return v_.begin(); }",
        "std::vector<double>::iterator of(int k) { return v_.begin(); }"}) {
    expect_executed_by(of, "*s.of(1) += 1;", "s.v_[1]");
  }
  expect_executed_by("int64_t& of(int k) { auto it = counts_.find(k); return it->second; }", "s.of(1) += 1;",
                     "s.counts_[1]");
  expect_executed_by("torch::Tensor of() { return torch::from_blob(v_.data(), {4}); }", "s.of().add_(1);",
                     "s.v_[1]");
}

TEST(Returned, AGlobalIsTheGlobal) {
  expect_executed({
      {"std::map<std::string, double> g; double& metric(const std::string& k) { return g[k]; }", "",
       "metric(\"a\") += 1;", "metric(\"a\")"},
      {"int g = 0; int& c() { return g; }", "", "c()++;", "c()"},
      {"int g = 0; int& c() { return g; } int& d() { return c(); }", "", "d() += 1;", "g"},
      {"double g = 0; double* cell() { return &g; }", "", "*cell() += 1;", "g"},
      {"using Ref = double&;\ndouble g = 0; Ref cell() { return g; }", "", "cell() += 1;", "g"},
      {"double g = 0; struct View { double& d; }; View of() { return View{g}; }", "", "of().d += 1;", "g"},
      {"double g = 0; std::pair<double&, int> of() { return {g, 1}; }", "", "of().first += 1;", "g"},
      {"double g = 0; std::reference_wrapper<double> of() { return g; }", "", "of().get() += 1;", "g"},
      {"double g = 0;\n#define GIVE(x) return x\ndouble& of() { GIVE(g); }", "", "of() += 1;", "g"},
  });
}

TEST(Returned, AParameterIsWhatWasPassed) {
  expect_executed({
      {"double& pick(double& a, double& b) { return a; }", "double s = 0, t = 0;", "pick(s, t) += 1;", "s"},
      {"double& pick(double* a) { return *a; }", "double s = 0;", "pick(&s) += 1;", "s"},
      {"template <typename T> T& pick(T& a) { return a; }", "double s = 0;", "pick(s) += 1;", "s"},
      {"double& last(std::vector<double>& v) { return v.back(); }", "std::vector<double> v(3);",
       "last(v) += 1;", "v[2]"},
  });
}

TEST(Returned, ALambdaIsAFunction) {
  expect_executed({
      {"", "double s = 0; auto ref = [&]() -> double& { return s; };", "ref() += 1;", "s"},
      {"", "double s = 0; auto ref = [&]() -> double& { return s; };", "auto& q = ref(); q += 1;", "s"},
      {"", "double s = 0; auto ref = [&] { return &s; };", "*ref() += 1;", "s"},
      {"", "double s = 0; auto ref = [&]() -> decltype(auto) { return (s); };", "ref() += 1;", "s"},
      {"", "std::vector<int> m{1}; auto at = [&](int i) -> int& { return m[i]; };", "at(0)++;", "m[0]"},
  });
}

TEST(Returned, PassedOnItIsStillTheMember) {
  expect_executed_by("int64_t& n() { return n_; } }; void inc(int64_t& x) { ++x; } struct Other {",
                     "inc(s.n());", "s.n_");
  expect_executed({
      {"struct C { int n_ = 0; int& n() { return n_; } }; struct S { C c_; C& c() { return c_; } };", "S s;",
       "s.c().n() += 1;", "s.c_.n_"},
      {"struct S { int n = 0; S& self() { return *this; } };", "S s;", "s.self().n += 1;", "s.n"},
      {"struct S { int n = 0; S& self() { return *this; } void hit() { self().n += 1; } };", "S s;",
       "s.hit();", "s.n"},
      {"struct S { int n = 0; void hit() { unknown(*this); } };", "S s;", "s.hit();", "s.n"},
  });
}

// A block that holds a module holds no counter in it.
TEST(Returned, AMemberOfAModuleIsNoStateOfIt) {
  expect_executed({
      {"", "", "net->count() += 1;", "net->calls"},
      {"", "", "auto& q = net->count(); q += 1;", "net->calls"},
      {"", "auto* p = &net->calls;", "*p += 1;", "net->calls"},
      {"", "", "for (auto& x : net->list) x += 1;", "net->list[0]"},
      {"", "Net other = net;", "other->calls += 1;", "net->calls"},
      {"", "", "unknown(net);", "net->calls"},
  });
  EXPECT_TRUE(stays_skipped({"", "", "", "net->calls"}));
  EXPECT_TRUE(stays_skipped({"", "", "auto w = net->fc->weight; w.add_(1);", "net->fc->weight.norm()"}));
}

TEST(Returned, ACopyIsNot) {
  const std::string stats =
      "struct Stats { double n_ = 0, m_ = 0; double n() const { return n_; } std::string name() { return a_; "
      "}"
      " std::pair<double, int> both() { return {n_, 1}; } auto twice() { return m_; } std::string a_; };";
  for (const char* change : {"auto x = s.n(); x += 1;", "auto x = s.both(); x.first += 1;",
                             "auto x = s.name(); x += 'a';", "auto x = s.twice(); x += 1;"}) {
    EXPECT_TRUE(stays_skipped({stats, "Stats s;", change, "s.n_ + s.m_"})) << change;
  }
  EXPECT_TRUE(stays_skipped({"struct S { double a_ = 0, b_ = 0; const double& a() const { return a_; } };",
                             "S s;", "s.b_ += 1;", "s.a()"}));
}

}  // namespace
}  // namespace flor::probes
