// Which random numbers a program drew in front of a loop that is to be resumed.
#include "core/resuming/entry_generators.h"

#include <gtest/gtest.h>

namespace flor::core {
namespace {

std::string python(const std::string& first, const std::string& position) {
  return "[3, [" + first + ", 77, " + position + "], null]";
}
std::string numpy(const std::string& first, const std::string& position) {
  return "[\"MT19937\", [" + first + ", 77], " + position + ", 0, \"0x0.0p+0\"]";
}
const std::string chance = "2147483648";

TEST(DrawnOtherwise, ComparesWhatBothHave) {
  const GeneratorStates recorded = {{"cpu", "a"}, {"cuda0", "b"}};
  EXPECT_FALSE(drawn_otherwise("epoch", &recorded, {{"cpu", "a"}}));
  EXPECT_FALSE(drawn_otherwise("epoch", nullptr, {{"cpu", "a"}}));
  const auto why = drawn_otherwise("epoch", &recorded, {{"cpu", "x"}, {"cuda0", "y"}});
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("in front of loop epoch"), std::string::npos) << *why;
  EXPECT_NE(why->find("(cpu, cuda0)"), std::string::npos) << *why;
}

TEST(DrawnOtherwise, ValuesHaveAReasonOfTheirOwn) {
  const GeneratorStates recorded = {{"cpu", "a"}, {"value of first", "b"}, {"value of weights", "c"}};
  const auto why =
      drawn_otherwise("epoch", &recorded, {{"cpu", "a"}, {"value of first", "x"}, {"value of weights", "y"}});
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("has other values than the recorded one (first, weights)"), std::string::npos) << *why;
  EXPECT_EQ(why->find("seed"), std::string::npos) << *why;
}

TEST(DrawnOtherwise, AGeneratorFromWhichNothingWasDrawnMayDiffer) {
  const GeneratorStates fresh = {{"python", python(chance, "624")}, {"numpy", numpy(chance, "623")}};
  EXPECT_FALSE(drawn_otherwise("epoch", &fresh,
                               {{"python", "[3, [2147483648, 99, 624], null]"},
                                {"numpy", "[\"MT19937\", [2147483648, 99], 623, 0, \"0x0.0p+0\"]"}}));
}

TEST(DrawnOtherwise, OneFromWhichSomethingWasDrawnMayNot) {
  const GeneratorStates fresh = {{"python", python(chance, "624")}, {"numpy", numpy(chance, "623")}};
  for (const auto& [name, state] :
       GeneratorStates{{"python", python("5", "2")}, {"numpy", numpy("5", "4")}}) {
    const GeneratorStates drawn = {{name, state}};
    EXPECT_TRUE(drawn_otherwise("epoch", &fresh, drawn)) << name;
    EXPECT_TRUE(drawn_otherwise("epoch", &drawn, fresh)) << name;
  }
  // A seed is the user's own, and differs by intention.
  const GeneratorStates seeded = {{"numpy", numpy("3", "624")}};
  EXPECT_TRUE(drawn_otherwise("epoch", &seeded, {{"numpy", numpy("4", "624")}}));
}

}  // namespace
}  // namespace flor::core
