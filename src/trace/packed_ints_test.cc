// SPDX-License-Identifier: Apache-2.0
#include "trace/packed_ints.h"

#include <gtest/gtest.h>

#include <random>

namespace gapless::internal {
namespace {

void ExpectEqual(const std::vector<int64_t>& values, size_t reserve) {
  PackedInts packed;
  packed.Reserve(reserve);
  for (const int64_t value : values) packed.Add(value);
  ASSERT_EQ(packed.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(packed[i], values[i]) << i;
}

TEST(PackedInts, HoldsWhatWasAdded) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin32 = std::numeric_limits<int32_t>::min(), kMax32 = std::numeric_limits<int32_t>::max();
  ExpectEqual({}, 0);
  ExpectEqual({7, 7, 7}, 0);
  ExpectEqual({kMax, kMax, 1}, 2);
  ExpectEqual({-32768, 32767, -32769, 32768}, 10);
  ExpectEqual({kMin32, kMax32, kMin32 - 1, kMax32 + 1}, 10);
  ExpectEqual({1, 2, kMax32, kMax}, 0);
  ExpectEqual({0, 0, kMin, kMax, 0}, 0);
  ExpectEqual({1, 2, 3, kMax, 4, kMin}, 3);
}

TEST(PackedInts, HoldsRandomSequencesOfEveryWidth) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> values;
    const int bits = static_cast<int>(random() % 64);
    for (size_t i = 0, count = random() % 100; i < count; ++i)
      values.push_back(static_cast<int64_t>(random() >> bits) * (random() % 2 == 0 ? 1 : -1));
    ExpectEqual(values, random() % 120);
  }
}

}  // namespace
}  // namespace gapless::internal
