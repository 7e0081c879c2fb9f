// Which changes of a block its arguments hold: a probe behind it that reads another one makes it execute.
#include <gtest/gtest.h>

#include "tests/probes/corpus.h"

namespace flor::probes {
namespace {

bool is_held(const std::string& argument, const std::string& change) {
  const std::string recorded =
      "#include <flor/flor.h>\nint main() {\n"
      "  for (int64_t epoch : flor::loop(\"epoch\", 10)) {\n"
      "    if (flor::SkipBlock train{\"train\", net, " +
      argument + "}; train.step_into()) {\n      " + change + ";\n    }\n    // behind\n  }\n}\n";
  const std::string present = edit(recorded, {insert("    // behind\n", "flor::log(\"a\", read(a, x));")});
  return !analyse({{"/exp/train.cpp", recorded}}, {{"/exp/train.cpp", present}}, {}, {}).from_start;
}

TEST(Held, AVariableIsWithAllThatLiesInIt) {
  for (const char* argument : {"a", "*a", "this->a"}) {
    for (const char* change : {"a = 1", "a.b = 1", "a->b.c += 1", "a[3].b++", "++a.b", "a.b.push_back(1)"})
      EXPECT_TRUE(is_held(argument, change)) << argument << ": " << change;
  }
}

TEST(Held, AMemberIsWithoutItsSiblings) {
  for (const char* argument : {"a.b", "a->b", "this->a.b"}) {
    for (const char* change : {"a.b = 1", "a->b = 1", "a.b.c += 1", "++a.b", "this->a.b = 1", "a.b[2] = 1"})
      EXPECT_TRUE(is_held(argument, change)) << argument << ": " << change;
    for (const char* change : {"a = 1", "a.c = 1", "a.bb = 1", "++a.c", "a.c.push_back(1)", "a[1].b = 1"})
      EXPECT_FALSE(is_held(argument, change)) << argument << ": " << change;
  }
}

TEST(Held, WhatAnExpressionHoldsIsNotKnown) {
  for (const char* argument : {"a[0]", "part_of(a)", "a.part()", "a + x"})
    EXPECT_FALSE(is_held(argument, "a = 1")) << argument;
  EXPECT_TRUE(is_held("a[0], a", "a = 1"));
  EXPECT_TRUE(is_held("b, x", "x += 1"));
  EXPECT_FALSE(is_held("b, c", "x += 1"));
}

}  // namespace
}  // namespace flor::probes
