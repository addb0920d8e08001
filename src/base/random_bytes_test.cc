// SPDX-License-Identifier: Apache-2.0
#include "base/random_bytes.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace gapless::internal {
namespace {

TEST(RandomBytesTest, EveryByteIsFilledAndNoTwoAreEqual) {
  std::set<std::array<std::byte, 16>> seen;
  std::array<bool, 16> changed{};
  for (int round = 0; round < 64; ++round) {
    std::array<std::byte, 16> bytes{};
    ASSERT_TRUE(FillWithRandom(bytes));
    for (size_t i = 0; i < bytes.size(); ++i) changed[i] = changed[i] || bytes[i] != std::byte{};
    EXPECT_TRUE(seen.insert(bytes).second);
  }
  for (size_t i = 0; i < changed.size(); ++i) EXPECT_TRUE(changed[i]) << "byte " << i << " is 0 in every round";
}

}  // namespace
}  // namespace gapless::internal
