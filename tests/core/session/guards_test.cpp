#include "core/session/guards.h"

#include <gtest/gtest.h>

namespace flor::core {
namespace {

class Part : public State {
 public:
  explicit Part(bool is_ready) : is_ready_(is_ready) {}
  std::vector<Buffer> save() override { return {}; }
  bool ready(bool is_last) override { return is_ready_ || is_last; }
  std::optional<std::string> misfit(const LoadedTensors&) override { return std::nullopt; }
  std::optional<std::string> restore(const LoadedTensors&) override { return std::nullopt; }

 private:
  const bool is_ready_;
};

TEST(Guards, AreReadyWhereAllOfThemAre) {
  Guards guards;
  EXPECT_TRUE(guards.ready(false));
  Part one(true), other(false);
  guards.enter(one);
  EXPECT_TRUE(guards.ready(false));
  guards.enter(other);
  EXPECT_FALSE(guards.ready(false));
  EXPECT_TRUE(guards.ready(true));
  guards.leave(other);
  EXPECT_TRUE(guards.ready(false));
}

}  // namespace
}  // namespace flor::core
