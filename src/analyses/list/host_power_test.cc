// SPDX-License-Identifier: Apache-2.0
// Tests table host_power. Figures by hand.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

TEST(HostPower, ByTheCountersOfProcessorsAndMemory) {
  HandMade trace;
  trace.Format("telemetry");
  for (int look = 0; look < 12; ++look) {  // 10 J and 2 J each tenth of a second
    trace.Counter("host.energy", look * int64_t{100'000'000}, look * 10.0);
    if (look < 5) trace.Counter("host.energy.dram", look * int64_t{100'000'000}, look * 2.0);
  }
  Analysed run(trace);
  const auto table = run["host_power"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_DOUBLE_EQ(table.Real(0, "processor_watts"), 100);
  EXPECT_TRUE(table.IsNull(0, "memory_watts")) << "four updates are too few";
}

TEST(HostPower, AHostWithoutCountersHasNoRow) {
  HandMade trace;
  trace.Format("telemetry").Counter("host.cpu.busy", 0, 0.5).Counter("gpu.energy", 0, 10, 0);
  Analysed run(trace);
  EXPECT_EQ(run["host_power"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
