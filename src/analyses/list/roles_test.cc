// SPDX-License-Identifier: Apache-2.0
// Tests table roles: a ledger for each role over the time that all recorded, and none where nobody says a role.
#include <gtest/gtest.h>

#include "analyses/testing/role_job.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::RoleJob;

TEST(Roles, EachHasALedgerOfTheSharedTime) {
  Analysed run(RoleJob({"trainer", "rollout"}));
  const auto roles = run["roles"];
  ASSERT_EQ(roles.rows(), 2U);
  EXPECT_EQ(roles.Text(0, "role"), "rollout");
  EXPECT_EQ(roles.Text(1, "role"), "trainer");
  EXPECT_EQ(roles.Int(1, "leads"), 1);
  for (size_t row = 0; row < 2; ++row) {
    // From the trainer's first kernel at 60 ms to its last one's end at 270 ms.
    EXPECT_EQ(roles.Int(row, "wall_ns"), 210 * kMs);
    EXPECT_EQ(roles.Int(row, "busy_ns") + roles.Int(row, "idle_ns"), roles.Int(row, "wall_ns"));
    EXPECT_EQ(roles.Int(row, "compute_ns"), roles.Int(row, "busy_ns"));
  }
  EXPECT_EQ(roles.Int(0, "busy_ns"), 120 * kMs) << "two of four times 60 ms";
  EXPECT_EQ(roles.Int(1, "busy_ns"), 90 * kMs) << "three times 30 ms";
  EXPECT_EQ(roles.Int(0, "waiting_ns"), 90 * kMs);
  EXPECT_EQ(roles.Int(1, "waiting_ns"), 120 * kMs);
}

TEST(Roles, NoneWithoutAWordForThem) {
  Analysed run(RoleJob({"", ""}));
  EXPECT_EQ(run["roles"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
