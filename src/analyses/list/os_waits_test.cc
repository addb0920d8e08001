// SPDX-License-Identifier: Apache-2.0
// Tests table os_waits: the system call of the launching thread in idle time, and its time off the processors.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// Two kernels with idle time from 100 to 1000 between them; the main thread launches both.
HandMade& AddTwoKernels(HandMade& trace) {
  return trace.Kernel("first", {0, 10, 20, 100}).Kernel("second", {900, 910, 1000, 1100});
}

TEST(OsWaits, TheCallOfTheLaunchingThreadIsNamed) {
  HandMade trace;
  AddTwoKernels(trace);
  trace.OsCall("pthread_cond_wait", 200, 700).OsCall("read", 300, 400).OsCall("poll", 50, 950, 2);
  Analysed run({trace.Finish()});
  const auto table = run["os_waits"];
  ASSERT_EQ(table.rows(), 1U) << "read lies inside the wait, and poll is of a thread that launches nothing";
  EXPECT_EQ(table.Text(0, "call"), "pthread_cond_wait");
  EXPECT_EQ(table.Int(0, "idle_ns"), 500);
  EXPECT_EQ(table.Int(0, "longest_ns"), 500);
  EXPECT_EQ(table.Int(0, "parts"), 1);
  EXPECT_TRUE(table.IsNull(0, "off_cpu_ns")) << "scheduling was not recorded";
}

TEST(OsWaits, CallsAreClippedToTheIdleTime) {
  HandMade trace;
  AddTwoKernels(trace);
  trace.OsCall("read", 50, 300).OsCall("read", 950, 2000);
  Analysed run({trace.Finish()});
  const auto table = run["os_waits"];
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.Int(0, "parts"), 2);
  EXPECT_EQ(table.Int(0, "idle_ns"), 250) << "100 to 300, and 950 to 1000";
}

TEST(OsWaits, TimeOffTheProcessorsIsKnownBetweenTwoRuns) {
  HandMade trace;
  AddTwoKernels(trace);
  trace.OsCall("read", 200, 400).ThreadRun(3, 0, 250).ThreadRun(1, 350, 600).ThreadRun(1, 800, 1200);
  Analysed run({trace.Finish()});
  const auto table = run["os_waits"];
  ASSERT_EQ(table.rows(), 2U);
  const size_t without = table.IsNull(0, "call") ? 0 : 1;
  EXPECT_EQ(table.Int(1 - without, "off_cpu_ns"), 100) << "250 to 350, in read";
  EXPECT_EQ(table.Int(without, "idle_ns"), 200) << "600 to 800, in no call";
  EXPECT_EQ(table.Int(without, "off_cpu_ns"), 200);
}

TEST(OsWaits, RecordingsWithoutTheSystemHaveNoRow) {
  HandMade trace;
  AddTwoKernels(trace);
  EXPECT_EQ(Analysed({trace.Finish()})["os_waits"].rows(), 0U);
}

}  // namespace
}  // namespace gapless::internal
