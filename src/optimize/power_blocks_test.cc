// SPDX-License-Identifier: Apache-2.0
// The search for a power limit on boards with a known curve: what it finds, in how many steps, and with which noise.
#include "optimize/power_blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string_view>

#include "optimize/testing/power_curve.h"

namespace gapless::internal {
namespace {

constexpr double kUpdateS = 0.1;  // a counter's

// Trains on boards with a curve until the blocks are done; every rank has the same board.
struct SimulatedBoards {
  PowerCurve curve;
  Random random;
  double step_noise = 0.01, power_noise = 0.01, drift = 0;  // drift: share by which a step grows in a thousand steps
  size_t devices = 1;

  PowerBlocks Tune(PowerPlan plan) {
    double limit = curve.range.usual;
    plan.range = curve.range, plan.devices = devices;
    PowerBlocks blocks(plan, [&](double watts) -> Result<void> { return limit = watts, Result<void>(); });
    double now = 1000, joules = 5000, updated = now;
    for (int step = 0; step < 5000 && !blocks.IsDone(); ++step) {
      const double took = curve.StepSeconds(limit) * (1 + step_noise * random.Normal()) * (1 + drift * step / 1000);
      const double watts = curve.Watts(limit) * (1 + power_noise * random.Normal());
      for (; updated + kUpdateS <= now + took; updated += kUpdateS)
        for (size_t device = 0; device < devices; ++device)
          blocks.AddEnergy(device, Ns(updated + kUpdateS), joules + watts * (updated + kUpdateS - now));
      blocks.AddStep(Ns(now), Ns(took));
      now += took, joules += watts * took;
      blocks.Advance(Ns(now));
    }
    EXPECT_EQ(limit, curve.range.usual) << "the usual limit is set at the end";
    return blocks;
  }
  static int64_t Ns(double seconds) { return static_cast<int64_t>(seconds * 1e9); }
};

// Zeus: for every limit from the highest to the lowest, 25 W apart, one step to wait, ten to warm up, forty measured.
size_t StepsOfZeus(const PowerRange& range) { return 50 * (static_cast<size_t>((range.high - range.low) / 25) + 1); }

// All curves that the figures were measured with, or a fifth of them (validate/testing/effort.h, whose type has the
// name of another one here).
int CurvesToTry() {
  const char* given = std::getenv("GAPLESS_STATISTICS");  // NOLINT(concurrency-mt-unsafe): nothing here sets it
  return given != nullptr && std::string_view(given) == "all" ? 100 : 20;
}

struct FoundLimits {
  int curves = CurvesToTry(), near = 0, few_steps = 0, within = 0;
  double share_of_steps = 0;
};

FoundLimits TuneCurves(const PowerGoal& goal) {
  FoundLimits found;
  for (int seed = 0; seed < found.curves; ++seed) {
    Random random(static_cast<uint64_t>(seed) + 1);
    SimulatedBoards boards{.curve = DrawPowerCurve(random), .random = random};
    const PowerBlocks blocks = boards.Tune({.goal = goal});
    const PowerRange& range = boards.curve.range;
    PowerGoal tight = goal;  // the slowdown of a window is known to half a point
    if (tight.most_slowdown) *tight.most_slowdown -= 0.005;
    const double cost = boards.curve.Cost(goal, blocks.chosen().value_or(range.usual), 0.005);
    found.near += cost <= 1.02 * boards.curve.LeastCost(tight);
    found.within += std::isfinite(cost);
    const double share = static_cast<double>(blocks.steps()) / static_cast<double>(StepsOfZeus(range));
    found.few_steps += share <= 0.4;
    found.share_of_steps += share / found.curves;
    EXPECT_LE(blocks.settings().size() + 1, 8U);
  }
  return found;
}

TEST(PowerBlocks, FindTheLeastEnergyInFewerSteps) {
  const FoundLimits found = TuneCurves({});
  EXPECT_GE(found.near, 0.97 * found.curves);
  EXPECT_EQ(found.few_steps, found.curves) << "search and proof, against 40 % of what Zeus takes for the search alone";
  EXPECT_LT(found.share_of_steps, 0.25);
}

TEST(PowerBlocks, FindTheLeastCostAndKeepToASlowdown) {
  const FoundLimits cost = TuneCurves({.time_weight = 0.5});
  EXPECT_GE(cost.near, 0.97 * cost.curves);
  const FoundLimits slow = TuneCurves({.most_slowdown = 0.05});
  EXPECT_GE(slow.near, 0.9 * slow.curves);
  EXPECT_GE(slow.within, 0.95 * slow.curves);
}

// A window lasts ten updates of the counter, one second, however short the steps: 28 windows of 25 steps at least.
TEST(PowerBlocks, ShortStepsMakeLongWindows) {
  PowerCurve curve{.range = {.low = 200, .high = 700, .usual = 700}, .idle_w = 150, .dynamic_w = 550, .exponent = 2.5};
  curve.step_s = 0.02, curve.memory_share = 0.5;
  SimulatedBoards boards{.curve = curve, .random = Random(1)};
  EXPECT_GE(boards.Tune({}).steps(), 28U * 25U);
}

// A range of clocks has no watts: the cost of time is then counted with the highest power limit.
TEST(PowerBlocks, TheDrawIsAShareOfTheHighestPowerLimit) {
  Random random(5);
  SimulatedBoards boards{.curve = DrawPowerCurve(random), .random = random};
  const double watts = boards.curve.Watts(boards.curve.range.usual);
  EXPECT_NEAR(boards.Tune({.highest_w = 2000}).draw(), watts / 2000, 0.02);
  EXPECT_NEAR(boards.Tune({}).draw(), watts / boards.curve.range.high, 0.02);
}

// The machine becomes half as fast while it is measured: the pairs do not see it, several boards count together.
TEST(PowerBlocks, ADriftAffectsBothOfAPair) {
  Random random(3);
  const PowerCurve curve = DrawPowerCurve(random);
  SimulatedBoards boards{.curve = curve, .random = random, .drift = 6, .devices = 4};
  const PowerBlocks blocks = boards.Tune({});
  ASSERT_TRUE(blocks.chosen());
  const PowerRatio proof = RatioOf(blocks.proof(), {});
  const double time = curve.StepSeconds(*blocks.chosen()) / curve.StepSeconds(curve.range.usual);
  EXPECT_NEAR(proof.time.expected, time, 0.03);
  EXPECT_NEAR(proof.energy.expected, curve.Joules(*blocks.chosen()) / curve.Joules(curve.range.usual), 0.03);
  EXPECT_NEAR(*blocks.usual_joules() / (4 * curve.Joules(curve.range.usual)), 1.5, 0.45);
}

}  // namespace
}  // namespace gapless::internal
