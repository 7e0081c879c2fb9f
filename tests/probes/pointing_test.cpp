// What is changed through casts, pointers that are computed, and members that are named by pointers.
#include <gtest/gtest.h>

#include "changed.h"

namespace flor::probes {
namespace {

TEST(Pointing, ACastIsTheObject) {
  expect_executed({
      {"", "int64_t s = 0;", "(int64_t&)s += 1;", "s"},
      {"", "int64_t s = 0;", "((int64_t&)s)++;", "s"},
      {"", "double s = 0;", "*(double*)&s += 1;", "s"},
      {"", "double s = 0; auto* p = (double*)&s;", "*p += 1;", "s"},
      {"", "double s = 0; double& q = (double&)s;", "q += 1;", "s"},
      {"", "double s = 0;", "double& q = *(double*)(void*)&s; q += 1;", "s"},
      {"void bump(double* d) { *d += 1; }", "double s = 0;", "bump((double*)&s);", "s"},
      {"struct B { int n = 0; }; struct D : B {};", "D d;", "((B&)d).n += 1;", "d.n"},
      {"", "double s = 0;", "reinterpret_cast<int64_t&>(s) += 1;", "s"},
      {"", "double s = 0, t = 0;", "const_cast<double&>(std::max(s, t)) = 5;", "t"},
  });
  expect_skipped({
      {"", "double s = 0;", "double q = (double)s; q += 1;", "s"},
      {"", "double s = 0, t = 0;", "double q = std::max(s, t); q += 1;", "s"},
      {"", "int64_t s = 0;", "auto q = static_cast<double>(s) * (s + 1); q += 1;", "s"},
  });
}

TEST(Pointing, AComputedPointerLeadsToWhatItIsComputedFrom) {
  expect_executed({
      {"", "std::vector<double> v(4);", "*(v.data() + 1) += 1;", "v[1]"},
      {"", "std::vector<double> v(4); auto it = v.begin();", "*(it + 1) += 1;", "v[1]"},
      {"", "std::vector<double> v(4);", "auto it = v.end() - 1; *it += 1;", "v[1]"},
      {"", "std::vector<double> v(4);", "(v.begin() + 1)[0] += 1;", "v[1]"},
      {"", "double s = 0;", "*(&s + 0) += 1;", "s"},
      {"", "auto t = torch::zeros({4});", "*(t.data_ptr<float>() + 1) = 3;", "t.sum().item<double>()"},
      {"", "auto t = torch::zeros({4}); auto p = t.data_ptr<float>();", "*(p + 1) = 3;",
       "t.sum().item<double>()"},
      {"struct S { std::vector<double> v_; double* of(int k) { return v_.data() + k; } };", "S s;",
       "*s.of(1) += 1;", "s.v_[1]"},
  });
  expect_skipped({
      {"", "std::vector<double> v(4);", "double x = v[1] + v[2]; x += 1;", "v[1]"},
      {"", "std::vector<double> v(4);", "auto n = v.end() - v.begin(); unknown(v.size() + 1);", "v[1]"},
  });
}

TEST(Pointing, AMemberPointerNamesAnyMember) {
  expect_executed({
      {"struct A { int n = 0; void hit() { n++; } };", "A a; auto m = &A::hit;", "(a.*m)();", "a.n"},
      {"struct A { int n = 0; void hit() { n++; } };", "A a; A* p = &a; auto m = &A::hit;", "(p->*m)();",
       "a.n"},
      {"struct A { int n = 0; };", "A a; int A::*m = &A::n;", "a.*m += 1;", "a.n"},
  });
}

}  // namespace
}  // namespace flor::probes
