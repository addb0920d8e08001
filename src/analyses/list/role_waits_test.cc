// SPDX-License-Identifier: Apache-2.0
// Tests table role_waits: who idles while whom works, in all time and by iteration of the job.
#include <gtest/gtest.h>

#include "analyses/testing/role_job.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::RoleJob;

TEST(RoleWaits, TheTrainerIdlesWhileTheRolloutWorks) {
  Analysed run(RoleJob({"trainer", "rollout"}));
  const auto waits = run["role_waits"];
  ASSERT_EQ(waits.rows(), 4U) << "each for the other, in all and in the one whole iteration";
  EXPECT_EQ(waits.Text(2, "role"), "trainer");
  EXPECT_EQ(waits.Text(2, "waits_for"), "rollout");
  EXPECT_TRUE(waits.IsNull(2, "iteration"));
  EXPECT_EQ(waits.Int(2, "wait_ns"), 120 * kMs);
  EXPECT_EQ(waits.Int(2, "alone_ns"), 120 * kMs);
  EXPECT_DOUBLE_EQ(waits.Real(2, "share"), 120.0 / 210);
  EXPECT_EQ(waits.Int(3, "iteration"), 0);
  EXPECT_EQ(waits.Int(3, "dur_ns"), 90 * kMs);
  EXPECT_EQ(waits.Int(3, "wait_ns"), 60 * kMs);
}

TEST(RoleWaits, ShorterPausesThanFiveMillisecondsAreNone) {
  Analysed run(RoleJob({"trainer", "rollout"}, 4 * kMs, 4 * kMs));
  EXPECT_EQ(run["role_waits"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
