#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/base/nontemporal_copy.h"
#include "core/checkpoint/buffers.h"

namespace flor::core {
namespace {

std::vector<unsigned char> noise(std::size_t bytes) {
  std::mt19937 generator(7);
  std::vector<unsigned char> out(bytes);
  for (auto& byte : out) byte = static_cast<unsigned char>(generator());
  return out;
}

TEST(PastCache, CopiesEveryByteAndNoOther) {
  const auto source = noise(1024);
  for (std::size_t from = 0; from < 17; ++from) {
    for (std::size_t to = 0; to < 65; ++to) {
      for (const std::size_t bytes : {0, 1, 15, 63, 64, 65, 127, 128, 200, 700}) {
        std::vector<unsigned char> copy(1024, 0xEE), expected = copy;
        std::copy_n(source.begin() + static_cast<long>(from), bytes,
                    expected.begin() + static_cast<long>(to));
        nontemporal_copy(copy.data() + to, source.data() + from, bytes);
        ASSERT_EQ(copy, expected) << bytes << " bytes from " << from << " to " << to;
      }
    }
  }
}

TEST(PastCache, LargeBuffersAreCopiedThatWay) {
  const auto source = noise((std::size_t{3} << 20) + 5);
  Buffer buffer;
  buffer.data = source.data();
  buffer.bytes = source.size();
  std::vector<unsigned char> copy(source.size() + 1, 0xEE);
  buffer.copy_to(copy.data());
  EXPECT_EQ(copy.back(), 0xEE);
  copy.pop_back();
  EXPECT_EQ(copy, source);
}

}  // namespace
}  // namespace flor::core
