// SPDX-License-Identifier: Apache-2.0
// Tests table gpu_power: the mean by the counter, and what is absent. Figures by hand.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// The counter is read every 50 ms and changes at every second look, by 30 J: 300 W.
void CountPower(HandMade& trace, int looks) {
  trace.Format("telemetry");
  for (int look = 0; look < looks; ++look) {
    const int64_t at = look * int64_t{50'000'000};
    trace.Counter("gpu.energy", at, 1000 + look / 2 * 30, 0).Counter("gpu.power", at, look == 3 ? 90 : 310, 0);
  }
}

TEST(GpuPower, ByTheEnergyCounter) {
  HandMade trace;
  CountPower(trace, 40);
  Analysed run(trace);
  const auto table = run["gpu_power"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_DOUBLE_EQ(table.Real(0, "counter_watts"), 300);
  EXPECT_DOUBLE_EQ(table.Real(0, "sampled_watts"), (39 * 310 + 90) / 40.0);
  EXPECT_EQ(table.Real(0, "least_watts"), 90);
  EXPECT_TRUE(table.IsNull(0, "utilization_share"));
}

TEST(GpuPower, NineUpdatesAreTooFew) {
  HandMade trace;
  CountPower(trace, 20);
  Analysed run(trace);
  EXPECT_TRUE(run["gpu_power"].IsNull(0, "counter_watts"));
  EXPECT_FALSE(run["gpu_power"].IsNull(0, "sampled_watts"));
}

TEST(GpuPower, AGpuOfWhichNoPowerIsKnownHasNoRow) {
  HandMade trace;
  trace.Format("telemetry").Counter("gpu.utilization", 0, 1, 0).Counter("gpu.power", 0, 200, 1);
  Analysed run(trace);
  const auto table = run["gpu_power"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Int(0, "device"), 1);
}

}  // namespace
}  // namespace gapless::internal
