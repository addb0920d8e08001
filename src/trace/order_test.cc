// SPDX-License-Identifier: Apache-2.0
// Tests of the stable sort of rows: ties keep their order, outliers and long runs take the paths of their own.
#include "trace/order.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace gapless::internal {
namespace {

// Sorts `keys` both ways and compares.
void ExpectSorted(const std::vector<int64_t>& keys, const std::vector<int64_t>& second = {}) {
  std::vector<uint32_t> rows(keys.size());
  std::iota(rows.begin(), rows.end(), 0);
  auto expected = rows;
  const auto key = [&](uint32_t row) { return SortKey{keys[row], second.empty() ? 0 : second[row]}; };
  std::stable_sort(expected.begin(), expected.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(key(a).first, key(a).second) < std::pair(key(b).first, key(b).second);
  });
  StableOrder(rows, key);
  EXPECT_EQ(rows, expected);
}

TEST(StableOrder, SmallAndEmpty) {
  ExpectSorted({});
  ExpectSorted({3, 1, 2, 1});
}

TEST(StableOrder, RandomKeysWithTies) {
  std::mt19937_64 random(1);
  std::vector<int64_t> keys(20'000), second(20'000);
  for (auto& key : keys) key = static_cast<int64_t>(random() % 5'000);
  for (auto& key : second) key = static_cast<int64_t>(random() % 3);
  ExpectSorted(keys);
  ExpectSorted(keys, second);
}

// One far-away key puts all others into one bucket, which must be dealt again.
TEST(StableOrder, OutliersAndExtremes) {
  std::mt19937_64 random(2);
  std::vector<int64_t> keys(10'000);
  for (auto& key : keys) key = static_cast<int64_t>(random() % 1'000'000);
  keys[17] = INT64_MAX;
  keys[18] = INT64_MIN;
  keys[19] = INT64_MAX - 1;
  ExpectSorted(keys);
}

TEST(StableOrder, AllEqual) { ExpectSorted(std::vector<int64_t>(5'000, 7)); }

TEST(StableOrder, InterleavedRuns) {
  std::vector<int64_t> keys;
  for (int64_t i = 0; i < 4'000; ++i) keys.push_back(i * 10);
  for (int64_t i = 0; i < 4'000; ++i) keys.push_back(i * 10 + 5);
  ExpectSorted(keys);
}

}  // namespace
}  // namespace gapless::internal
