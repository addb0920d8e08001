// SPDX-License-Identifier: Apache-2.0
// Tests NewestOfTwo against a search through the last events of all lanes.
#include "predict/growing_graph.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace gapless::internal {
namespace {

TEST(NewestOfTwo, IsTheNewestEventOfTheOtherLanes) {
  std::mt19937 random(1);
  NewestOfTwo<int> newest;
  std::map<int, Instant> last;
  for (Instant now = 0; now < 2000; ++now) {
    for (int lane = 0; lane < 5; ++lane) {
      Instant expected = kNoInstant;
      for (const auto& [other, instant] : last)
        if (other != lane && (expected == kNoInstant || instant > expected)) expected = instant;
      ASSERT_EQ(newest.Elsewhere(lane), expected) << "at " << now << ", lane " << lane;
    }
    const int lane = static_cast<int>(random() % 4);
    newest.Take(lane, now);
    last[lane] = now;
  }
}

}  // namespace
}  // namespace gapless::internal
