// SPDX-License-Identifier: Apache-2.0
// Tests when the operating system's record is evidence for time in which the host kept the device waiting.
#include "diagnose/os_wait_view.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

constexpr int64_t kMs = 1'000'000;

// The device idles from 1 to 101 ms; the main thread launches nothing meanwhile.
void AddWait(HandMade& trace) {
  trace.Kernel("first", {0, 10'000, 20'000, kMs})
      .Kernel("second", {100 * kMs, 100 * kMs + 10'000, 101 * kMs, 102 * kMs});
}

std::vector<Evidence> EvidenceIn(HandMade& trace) {
  Analysed run({trace.Finish()});
  return OsWaitEvidence(run.tables().Get<OsWaitsRows>(), 99 * kMs, ReadLedger(run.tables()));
}

TEST(OsWaitView, NamesTheCallAndTheTimeOffTheProcessors) {
  HandMade trace;
  AddWait(trace);
  trace.OsCall("poll", 2 * kMs, 12 * kMs).OsCall("pthread_cond_wait", 20 * kMs, 60 * kMs);
  trace.ThreadRun(0, 0, 30 * kMs).ThreadRun(0, 70 * kMs, 103 * kMs);
  const std::vector<Evidence> found = EvidenceIn(trace);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NE(found[0].text.find("is in pthread_cond_wait of the system's library meanwhile"), std::string::npos)
      << found[0].text;
  EXPECT_EQ(found[0].value, 40.0 * kMs);
  EXPECT_NE(found[1].text.find("on no processor"), std::string::npos) << found[1].text;
  EXPECT_EQ(found[1].value, 40.0 * kMs) << "30 to 70 ms, of which ten are in no call";
}

TEST(OsWaitView, LessThanAFifthIsNoEvidence) {
  HandMade trace;
  AddWait(trace);
  trace.OsCall("read", 20 * kMs, 30 * kMs).ThreadRun(0, 0, 30 * kMs).ThreadRun(0, 40 * kMs, 103 * kMs);
  EXPECT_TRUE(EvidenceIn(trace).empty());
}

}  // namespace
}  // namespace gapless::internal
