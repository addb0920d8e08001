// SPDX-License-Identifier: Apache-2.0
// Tests of the timings: own time without inner parts, order, and that they are off at first.
#include "base/timings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace gapless::internal {
namespace {

const Timing* Find(const std::vector<Timing>& timings, std::string_view name) {
  const auto at = std::ranges::find(timings, name, &Timing::name);
  return at == timings.end() ? nullptr : &*at;
}

void SleepMs(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// One test, for being enabled cannot be taken back.
TEST(Timings, CountEachPartsOwnTimeOnceEnabled) {
  { const TimedPart ignored("test", "before"); }
  EXPECT_TRUE(CollectTimings().empty());

  EnableTimings();
  {
    const TimedPart outer("test", "outer");
    for (int i = 0; i < 2; ++i) {
      const TimedPart inner("test", "inner");
      SleepMs(20);
    }
    const TimedPart waiting("", "");
    SleepMs(20);
  }
  const std::vector<Timing> timings = CollectTimings();
  const Timing *outer = Find(timings, "outer"), *inner = Find(timings, "inner");
  ASSERT_TRUE(outer != nullptr && inner != nullptr);
  EXPECT_EQ(timings.size(), 2U);
  EXPECT_EQ(timings.front().name, "inner");
  EXPECT_EQ(inner->calls, 2);
  EXPECT_GE(inner->ns, 40'000'000);
  EXPECT_LT(outer->ns, 20'000'000);  // neither the inner parts nor the wait
  EXPECT_EQ(outer->part, "test");
}

}  // namespace
}  // namespace gapless::internal
