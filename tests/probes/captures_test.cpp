// What lambdas change that are kept by objects, are captured by others, or are returned.
#include <gtest/gtest.h>

#include <string>

#include "changed.h"

namespace flor::probes {
namespace {

TEST(Captures, AConstructorMayKeepALambda) {
  const std::string kept =
      "struct Tr { std::function<void(double)> cb; explicit Tr(std::function<void(double)> c) : "
      "cb(std::move(c)) {} void run() { cb(1); } };";
  const std::string set =
      "struct Tr { std::function<void(double)> cb; explicit Tr(std::function<void(double)> c) { cb = "
      "std::move(c); } void run() { cb(1); } };";
  for (const std::string& type : {kept, set}) {
    expect_executed({
        {type, "int n = 0; Tr t([&](double) { ++n; });", "t.run();", "n"},
        {type, "int n = 0; Tr t{[&](double) { ++n; }};", "t.run();", "n"},
        {type, "int n = 0; auto f = [&](double) { ++n; }; Tr t(f);", "t.run();", "n"},
        {type, "int n = 0; std::function<void(double)> f = [&](double) { ++n; }; Tr t(f);", "t.run();", "n"},
        {type, "int n = 0; Tr t = Tr([&](double) { ++n; });", "t.run();", "n"},
    });
    expect_skipped({{type, "int n = 0, m = 0; Tr t([&](double) { ++n; });", "t.run();", "m"}});
  }
  const std::string any =
      "template <typename F> struct Tr { F f; explicit Tr(F g) : f(g) {} void run() { f(1); } };";
  expect_executed({
      {any, "int n = 0; auto f = [&](int) { ++n; }; Tr<decltype(f)> t(f);", "t.run();", "n"},
      {any, "int n = 0; Tr t([&](int) { ++n; });", "t.run();", "n"},
      {"struct Tr { std::vector<std::function<void()>> all; Tr(std::initializer_list<std::function<void()>> "
       "l) "
       ": all(l) {} void run() { for (auto& f : all) f(); } };",
       "int n = 0; Tr t{[] {}, [&] { ++n; }};", "t.run();", "n"},
  });
}

TEST(Captures, AnAggregateKeepsALambda) {
  const std::string options = "struct Options { int k; std::function<void(double)> on; };";
  expect_executed({
      {options, "int n = 0; Options o{1, [&](double) { ++n; }};", "o.on(3);", "n"},
      {options, "int n = 0; Options o = {1, [&](double) { ++n; }};", "o.on(3);", "n"},
      {"struct Hooks { std::function<void()> on; };", "int n = 0; Hooks h{[&] { ++n; }};", "h.on();", "n"},
      {"struct Hooks { std::function<void()> on; };", "int n = 0; auto f = [&] { ++n; }; Hooks h{f};",
       "h.on();", "n"},
      {"", "int n = 0; std::vector<std::function<void()>> v{[&] { ++n; }};", "v[0]();", "n"},
  });
}

TEST(Captures, AMemberMayBeInitializedWithALambda) {
  expect_executed({
      {"int g = 0; struct S { std::function<void()> cb; S() : cb([] { ++g; }) {} void run() { cb(); } };",
       "S s;", "s.run();", "g"},
      {"int g = 0; struct S { std::function<void()> cb = [] { ++g; }; void run() { cb(); } };", "S s;",
       "s.run();", "g"},
      {"int g = 0; auto hit = [] { ++g; };", "", "hit();", "g"},
  });
}

// As a function's own parameters are those that its callers gave.
TEST(Captures, ALambdaKeptByAFunctionChangesWhatItWasGiven) {
  const std::string type =
      "struct Tr { std::function<void()> cb; explicit Tr(std::function<void()> c) : cb(c) {} void run() { "
      "cb(); } }; ";
  expect_executed({
      {type + "void work(int& n) { Tr t([&] { ++n; }); t.run(); }", "int n = 0;", "work(n);", "n"},
      {type + "std::unique_ptr<Tr> make(int& n) { return std::make_unique<Tr>([&] { ++n; }); }",
       "int n = 0; auto t = make(n);", "t->run();", "n"},
  });
}

TEST(Captures, AnInitializedReferenceIsWhatItIsBoundTo) {
  expect_executed({
      {"", "int x = 0; auto f = [&r = x] { ++r; };", "f();", "x"},
      {"struct S { int n = 0; };", "S s; auto f = [&n = s.n] { ++n; };", "f();", "s.n"},
      {"", "std::vector<int> v(3); auto f = [&last = v.back()] { last += 1; };", "f();", "v[2]"},
      {"", "int x = 0, y = 0; auto f = [&, &r = x] { ++r; y += 0; };", "f();", "x"},
      {"", "int x = 0; auto f = [=, &r = x] { ++r; };", "f();", "x"},
      {"", "int x = 0; auto f = [&r{x}] { ++r; };", "f();", "x"},
      {"", "int x = 0; auto f = [&r(x)] { ++r; };", "f();", "x"},
      {"", "int x = 0; auto f = [a = 1, &r = x] { r += a; };", "f();", "x"},
      {"", "int x = 0; auto f = [p = std::pair<int, int>{1, 2}, &r = x] { r += p.first; };", "f();", "x"},
      {"", "int x = 0; auto f = [&] { ++x; }; auto g = [h = f] { h(); };", "g();", "x"},
      {"", "int x = 0; auto g = [h = [&] { ++x; }] { h(); };", "g();", "x"},
      {"", "int x = 0; auto g = [h = [&r = x] { ++r; }]() mutable { h(); };", "g();", "x"},
      {"", "int x = 0; auto g = [p = &x] { ++*p; };", "g();", "x"},
      {"template <typename... T> void each(T&... all) { auto f = [&... r = all] { (++r, ...); }; f(); }",
       "int x = 0;", "each(x);", "x"},
  });
  expect_skipped({
      {"", "int x = 0; auto f = [r = x]() mutable { ++r; };", "f();", "x"},
      {"", "int x = 0, y = 0; auto f = [&r = x] { ++r; };", "f();", "y"},
  });
}

TEST(Captures, AReturnedLambdaRunsWhereItsValueIsCalled) {
  const std::string counter = "auto counter(int& n) { return [&n] { ++n; }; }";
  const std::string kept = "std::function<void()> counter(int& n) { auto f = [&n] { ++n; }; return f; }";
  for (const std::string& type : {counter, kept}) {
    expect_executed({
        {type, "int x = 0; auto g = counter(x);", "g();", "x"},
        {type, "int x = 0;", "counter(x)();", "x"},
        {type, "int x = 0;", "auto g = counter(x); g();", "x"},
        {type, "int x = 0; std::function<void()> g = counter(x);", "g();", "x"},
        {type + " struct S { int n = 0; };", "S s; auto g = counter(s.n);", "g();", "s.n"},
    });
    expect_skipped({{type, "int x = 0, y = 0; auto g = counter(x);", "g();", "y"}});
  }
  expect_executed({
      {"", "int x = 0; auto make = [&] { return [&] { ++x; }; }; auto g = make();", "g();", "x"},
      {"", "int x = 0; auto make = [&] { return [&] { ++x; }; };", "make()();", "x"},
      {"auto counter(int& n) { return [&r = n] { ++r; }; }", "int x = 0; auto g = counter(x);", "g();", "x"},
      {"auto counter(int* n) { return [n] { ++*n; }; }", "int x = 0; auto g = counter(&x);", "g();", "x"},
      {"auto counter(int& n) { auto f = [&n] { ++n; }; return [f] { f(); }; }",
       "int x = 0; auto g = counter(x);", "g();", "x"},
      {"auto pick(bool b, int& n) { auto f = [&n] { ++n; }; auto h = [&n] { --n; }; return b ? f : h; }",
       "int x = 0; std::function<void()> g = pick(true, x);", "g();", "x"},
  });
}

TEST(Captures, AKeptLambdaMayChangeItsObject) {
  expect_executed({
      {"struct S { int n = 0; std::function<void()> cb; S() : cb([this] { ++n; }) {} void run() { cb(); } };",
       "S s;", "s.run();", "s.n"},
      {"struct S { int n = 0; std::function<void()> cb; S() { cb = [this] { ++n; }; } void run() { cb(); } "
       "};",
       "S s;", "s.run();", "s.n"},
      {"struct S { int n = 0; void hit() { ++n; } std::function<void()> cb; S() { cb = [this] { hit(); }; } "
       "};",
       "S s;", "s.cb();", "s.n"},
      {"struct S { int n = 0; std::function<void()> cb = [this] { ++n; }; void run() { cb(); } };", "S s;",
       "s.run();", "s.n"},
      {"struct S { int n = 0; std::function<void()> cb; S() { cb = [this] { ++n; }; } };",
       "S s; auto f = s.cb;", "f();", "s.n"},
      {"struct S { int n = 0; std::function<void()> cb; S() { cb = [this] { ++n; }; } };",
       "S s; auto& q = s;", "q.cb();", "q.n"},
  });
}

TEST(Captures, AReturnedLambdaMayChangeItsObject) {
  const std::string type = "struct S { int n = 0; auto counter() { return [this] { ++n; }; } };";
  expect_executed({
      {type, "S s; auto g = s.counter();", "g();", "s.n"},
      {type, "S s;", "s.counter()();", "s.n"},
      {type, "S s;", "auto g = s.counter(); g();", "s.n"},
      {type + " struct T { S s; };", "T t; auto g = t.s.counter();", "g();", "t.s.n"},
      {type, "auto s = std::make_shared<S>(); auto g = s->counter();", "g();", "s->n"},
      {"struct S { int n = 0; int get() const { return n; } auto counter() { return [&] { this->n += 1; }; } "
       "};",
       "S s; auto g = s.counter();", "g();", "s.get()"},
  });
}

}  // namespace
}  // namespace flor::probes
