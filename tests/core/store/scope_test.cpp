#include "core/store/scope.h"

#include <gtest/gtest.h>

namespace flor::core {
namespace {

TEST(Scope, NamesLoopsBlocksAndOrdinals) {
  Scope scope;
  EXPECT_EQ(scope.path(), "");
  EXPECT_EQ(scope.enter_loop("epoch"), "epoch");
  EXPECT_EQ(scope.path(), "");  // no iteration has begun
  scope.set_value(12);
  scope.enter_block("train");
  EXPECT_EQ(scope.path(), "epoch=12/train#0");
  EXPECT_EQ(scope.parent(), "epoch=12");
  scope.leave();
  scope.enter_block("train");
  EXPECT_EQ(scope.path(), "epoch=12/train#1");
  scope.enter_loop("step");
  scope.set_value(3);
  EXPECT_EQ(scope.path(), "epoch=12/train#1/step=3");
  EXPECT_EQ(scope.loops(), (std::vector<std::pair<std::string, int64_t>>{{"epoch", 12}, {"step", 3}}));
}

// Semantics 7: identity survives a jump, because it counts only what happened in the same iteration.
TEST(Scope, OrdinalsBeginAnewInEachIteration) {
  Scope scope;
  scope.enter_loop("epoch");
  for (int64_t value : {7, 2, 40}) {
    scope.set_value(value);
    scope.enter_block("train");
    EXPECT_EQ(scope.ordinal(), 0);
    scope.leave();
  }
}

TEST(Scope, TellsLoopsOfOneNameApart) {
  Scope scope;
  EXPECT_EQ(scope.enter_loop("epoch"), "epoch");
  scope.leave();
  EXPECT_EQ(scope.enter_loop("epoch"), "epoch#1");
  scope.set_value(3);
  EXPECT_EQ(scope.path(), "epoch#1=3");
}

TEST(Scope, CleansNames) {
  EXPECT_EQ(clean_name("train/val set"), "train_val_set");
  EXPECT_EQ(clean_name(".."), "_.");
  EXPECT_EQ(clean_name(""), "_");
  EXPECT_EQ(clean_name("value", true), "value_");
  EXPECT_EQ(clean_name("value"), "value");
}

TEST(Scope, StemsOfCheckpointFiles) {
  EXPECT_EQ(checkpoint_stem("epoch=12", 0), "epoch=12");
  EXPECT_EQ(checkpoint_stem("epoch=12/step=3", 1), "epoch=12,step=3#1");
  EXPECT_EQ(checkpoint_stem("epoch=12", 0, 0, 4), "epoch=12.r0of4");
  EXPECT_EQ(checkpoint_stem("", 0), "program");
}

}  // namespace
}  // namespace flor::core
