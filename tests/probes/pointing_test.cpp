// What is changed through casts, pointers that are computed, and members that are named by pointers.
#include <gtest/gtest.h>

#include <string>

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

TEST(Pointing, AnArrayIsAPointerToItsElements) {
  const std::string bump = "void bump(double* d) { *d += 1; }";
  expect_executed({
      {"", "int x[4] = {};", "*(x + 1) += 1;", "x[1]"},
      {"", "double x[4];", "double* d = x + 1; *d = 3;", "x[1]"},
      {"", "double x[4];", "auto d = x + 1; *d = 3;", "x[1]"},
      {"", "double x[4];", "auto d = x; d[1] = 3;", "x[1]"},
      {"", "double x[4];", "(x + 1)[0] = 3;", "x[1]"},
      {"", "double x[4];", "*(1 + x) = 3;", "x[1]"},
      {"", "double m[3][4];", "*(m[1] + 2) = 3;", "m[1][2]"},
      {"double x[4];", "", "*(x + 1) += 1;", "x[1]"},
      {bump, "double x[4];", "bump(x + 1);", "x[1]"},
      {bump + " struct S { double x[4]; };", "S s;", "bump(s.x + 1);", "s.x[1]"},
      {"struct S { double x[4]; void hit() { *(x + 1) += 1; } };", "S s;", "s.hit();", "s.x[1]"},
      {"", "double m[3][4];", "*(*(m + 1) + 2) = 3;", "m[1][2]"},
      {"", "double m[3][4];", "auto row = m[1]; *(row + 1) = 3;", "m[1][2]"},
      {"", "double y[4]; double* x[2] = {y, y};", "*(x[1] + 2) = 3;", "y[2]"},
      {"", "double x[4];", "for (double& d : x) d += 1;", "x[1]"},
      {"", "double x[4]; double (&q)[4] = x;", "*(q + 1) += 1;", "x[1]"},
      {"void bump(double (&q)[4]) { q[1] += 1; }", "double x[4];", "bump(x);", "x[1]"},
      {"using Row = double[4];", "Row x;", "*(x + 1) += 1;", "x[1]"},
      {"using Row = double[4];", "Row x;", "auto d = x; d[1] = 3;", "x[1]"},
      {"", "double x[4]; double* d = x;", "auto q = d + 1; *(q + 1) = 3;", "x[2]"},
      {"struct S { double x[4]; };", "std::vector<S> v(2);", "*(v[0].x + 1) = 3;", "v[0].x[1]"},
      {"struct S { double* p; };", "double x[4]; S s{x};", "*(s.p + 1) += 1;", "x[1]"},
      {"void bump(double x[4]) { *(x + 1) += 1; }", "double y[4];", "bump(y);", "y[1]"},
      {"", "double x[4];", "std::fill(x + 1, x + 4, 3.0);", "x[1]"},
      {"", "double x[4]; std::vector<double> v(3);", "std::copy(v.begin(), v.end(), x + 1);", "x[1]"},
      {"", "double x[4]; double y[4];", "std::memcpy(x + 1, y, 8);", "x[1]"},
  });
  expect_skipped({
      {"", "double x[4];", "double y = x[1] + x[2]; y += 1;", "x[1]"},
      {"", "double x[4];", "double y = *(x + 1); y += 1;", "x[1]"},
      {"", "double x[4], z[4];", "*(z + 1) = x[0];", "x[1]"},
      {"", "double x[4];", "double y = std::accumulate(x, x + 4, 0.0); y += 1;", "x[1]"},
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
