// SPDX-License-Identifier: Apache-2.0
// The history gate keeps to what it states under noise of every kind, and still finds slowdowns. The histories are
// fresh ones: their seeds are neither those that thresholds were chosen on, nor those of the stated figures.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "validate/noise_look.h"
#include "validate/testing/effort.h"
#include "validate/testing/gate_walk.h"

namespace gapless::internal {
namespace {

struct Shares {
  double alarms = 0, stated = 0;
};

Shares Simulate(GateNoise noise, const GateWalk& walk, int histories) {
  Shares shares;
  for (int i = 0; i < histories; ++i) {
    const GateWalked walked = Walk(noise, kCheckingSeed + static_cast<uint64_t>(i), walk);
    shares.alarms += (walked.regression ? 1.0 : 0.0) / histories;
    shares.stated += walked.stated.value_or(0) / histories;
  }
  return shares;
}

#ifdef GAPLESS_SANITIZED
constexpr int kHistories = 10;  // each takes ten times as long
#else
constexpr int kHistories = 200;
#endif

// Few histories are tried where it was most wrong: twelve past runs, with fresh runs of one machine; all on the
// schedule.
TEST(GateAlarms, AreAsRareAsStatedWhateverTheNoise) {
  const Effort effort(kHistories);
  const bool all = effort.tried == effort.all;
  for (const GateNoise noise : kGateNoises)
    for (const size_t past : all ? std::vector<size_t>{6, 12, 30, 100} : std::vector<size_t>{12})
      for (const FreshKind fresh : {FreshKind::kNone, FreshKind::kElsewhere, FreshKind::kSameMachine}) {
        if (!all && fresh == FreshKind::kElsewhere) continue;
        const Shares shares = Simulate(noise, {.past = past, .fresh = fresh}, effort.tried);
        const double slack = 3.1 * std::sqrt(shares.stated * (1 - shares.stated) / effort.tried) + 0.5 / effort.tried;
        EXPECT_LE(shares.alarms, shares.stated + slack)
            << NameOf(noise) << ", after " << past << " runs, fresh runs " << static_cast<int>(fresh);
        EXPECT_GT(shares.stated, 0);
        EXPECT_LE(shares.stated, 0.10);
      }
}

TEST(GateAlarms, AreNotStatedWhereTheyWereNotSimulated) {
  EXPECT_FALSE(SimulatedFalseAlarms(NoiseLook::kQuiet, 50, 0.02));
  EXPECT_TRUE(SimulatedFalseAlarms(NoiseLook::kQuiet, 50, 0.10)) << "a larger threshold raises fewer";
  EXPECT_EQ(SimulatedFalseAlarms(std::nullopt, 0, 0.05), SimulatedFalseAlarms(NoiseLook::kSpikes, 10, 0.05))
      << "the worst kind";
}

TEST(GateAlarms, SlowdownsAreFoundWithinSomeRuns) {
  const Effort effort(200, 20);
  const auto found = [&](GateNoise noise, size_t runs, double slower) {
    return Simulate(noise, {.judged = runs, .slower = slower}, effort.tried).alarms;
  };
  EXPECT_GE(found(GateNoise::kQuiet, 3, 1.1), effort.AtLeast(0.95));
  EXPECT_GE(found(GateNoise::kSpikes, 8, 1.2), effort.AtLeast(0.85));
  EXPECT_GE(found(GateNoise::kHeavyTail, 8, 1.2), effort.AtLeast(0.85));
  EXPECT_GE(found(GateNoise::kNamedMachines, 5, 1.1), effort.AtLeast(0.93)) << "as if there was one machine";
  EXPECT_GE(found(GateNoise::kTwoMachines, 12, 1.2), effort.AtLeast(0.60));
}

}  // namespace
}  // namespace gapless::internal
