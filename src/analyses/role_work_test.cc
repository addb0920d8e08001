// SPDX-License-Identifier: Apache-2.0
// Tests stretches of a device's work: parts of them, and what joining short pauses leaves as it was.
#include "analyses/role_work.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace gapless::internal {
namespace {

WorkStretch Of(int64_t start, int64_t end, bool works) {
  WorkStretch stretch{.span = {start, end}};
  (works ? stretch.work[0] : stretch.idle[1]) = end - start;
  return stretch;
}

TEST(RoleWork, APartOfAStretchHasItsKindsInTheirShares) {
  WorkStretch mixed{.span = {100, 200}};
  mixed.work[0] = 60, mixed.idle[1] = 40;
  const auto part = StretchesIn({mixed}, {150, 200});
  ASSERT_EQ(part.size(), 1U);
  EXPECT_EQ(part[0].work[0], 30);
  EXPECT_EQ(part[0].idle[1], 20);
}

TEST(RoleWork, BeyondWhatWasRecordedADeviceIdlesForNoKnownReason) {
  const auto all = StretchesIn({Of(100, 200, true)}, {50, 250});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].idle[static_cast<size_t>(IdleCause::kUnknown)], 50);
  EXPECT_EQ(all[2].span, (Interval{200, 250}));
}

TEST(RoleWork, JoiningKeepsSumsAndEveryPauseThatCounts) {
  std::mt19937_64 rng(3);
  std::vector<WorkStretch> fine;
  int64_t at = 0;
  for (int i = 0; i < 5000; ++i) {
    const bool works = i % 2 == 0;
    const bool is_long = i % 501 == 500 - 1 && !works;
    const int64_t length = is_long ? kLeastRoleWaitNs + 7 : 1 + static_cast<int64_t>(rng() % 2'000'000);
    fine.push_back(Of(at, at + length, works)), at += length;
  }
  std::vector<WorkStretch> coarse = fine;
  Coarsen(coarse, 100);
  EXPECT_LE(coarse.size(), 100U);
  const auto sum = [](const std::vector<WorkStretch>& all) {
    return std::accumulate(all.begin(), all.end(), int64_t{0},
                           [](int64_t total, const WorkStretch& each) { return total + each.work[0]; });
  };
  const auto pauses = [](const std::vector<WorkStretch>& all) {
    std::vector<Interval> found;
    for (const WorkStretch& each : all)
      if (each.busy() == 0 && each.span.length() >= kLeastRoleWaitNs) found.push_back(each.span);
    return found;
  };
  EXPECT_EQ(sum(coarse), sum(fine));
  EXPECT_EQ(pauses(coarse), pauses(fine));
  for (size_t i = 1; i < coarse.size(); ++i) EXPECT_EQ(coarse[i].span.start, coarse[i - 1].span.end);
}

}  // namespace
}  // namespace gapless::internal
