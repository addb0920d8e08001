// SPDX-License-Identifier: Apache-2.0
// Holds the simulation of more ranks to jobs whose truth is known: recorded with few ranks by the simulator of jobs,
// whose code it shares nothing with, predicted with many, and run with many. bench/scale_out.cc does the same with more
// jobs.
#include "predict/scale_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cluster/testing/simulated_job.h"
#include "ingest/testing/read.h"

namespace gapless::internal {
namespace {

using SimulatedRun = Run;  // in a test Run is a function of the test

testing::JobSpec SpecOf(uint64_t seed, int ranks, int steps) {
  testing::JobSpec spec{.seed = seed, .ranks = ranks, .steps = steps, .cards = 8, .shards_optimizer = true};
  spec.layout = {.data = ranks, .sharded = seed % 2 == 1};
  spec.nvlink_gbps = 300, spec.card_gbps = seed % 4 < 2 ? 37.5 : 20;  // of nodes: as fast as NVLink, or 160 GB/s
  return spec;
}

struct Held {
  double off = 0;  // predicted over true step, as a logarithm
  bool within = false;
};

std::vector<Held> Predicted(uint64_t seed, int from, const std::vector<int>& to) {
  const testing::SimulatedJob job = testing::MakeJob(SpecOf(seed, from, 8));
  std::vector<std::shared_ptr<const Trace>> traces;
  for (int rank = 0; rank < from; ++rank)
    traces.push_back(std::make_shared<const Trace>(testing::ReadText(testing::RecordingOf(job, rank))));
  const SimulatedRun run(std::move(traces));
  Tables tables(run);
  const auto predictor = Predictor::ForRun(tables);
  if (!predictor || !predictor->check().accepted()) return {};
  const auto scale = PredictScaleOut(*predictor, {.counts = to, .per_node = 8, .link_gbps = 8 * job.spec.card_gbps});
  EXPECT_TRUE(scale) << (scale ? "" : scale.error().message);
  std::vector<Held> held;
  for (size_t at = 0; scale && at < to.size(); ++at) {
    const auto truth_ns = static_cast<double>(testing::MakeJob(SpecOf(seed, to[at], 20)).truth.step_ns);
    const ScaleValue& step = scale->points[at].step_ns;
    held.push_back({std::log(*step.expected / truth_ns), *step.low <= truth_ns && truth_ns <= *step.high});
  }
  return held;
}

void HoldsFrom(int from, const std::vector<int>& to, double median, double most, size_t within) {
  std::vector<double> sizes;
  size_t held_within = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed)
    for (const Held& held : Predicted(seed, from, to)) {
      sizes.push_back(std::abs(held.off));
      held_within += held.within ? 1 : 0;
    }
  ASSERT_EQ(sizes.size(), 8 * to.size());
  std::ranges::sort(sizes);
  EXPECT_LT(sizes[sizes.size() / 2], median);
  EXPECT_LT(sizes.back(), most);
  EXPECT_GE(held_within, within);
}

TEST(ScaleOutOfJobs, ThirtyTwoRanksFromEight) { HoldsFrom(8, {32}, 0.02, 0.05, 6); }
TEST(ScaleOutOfJobs, SixteenRanksFromTwo) { HoldsFrom(2, {16}, 0.03, 0.12, 5); }

// A job whose gathers hold its modules up, as recorded, and what the same one takes with another setting.
double SpeedupOf(uint64_t seed, int ahead, bool keeps) {
  testing::JobSpec spec = SpecOf(2 * seed + 1, 8, 12);
  spec.gathers_ahead = 0;
  const auto before = static_cast<double>(testing::MakeJob(spec).truth.step_ns);
  spec.gathers_ahead = ahead, spec.keeps_gathered = keeps;
  return before / static_cast<double>(testing::MakeJob(spec).truth.step_ns);
}

double SaidOf(const testing::JobSpec& spec, std::string_view fix, std::string_view value) {
  const testing::SimulatedJob job = testing::MakeJob(spec);
  std::vector<std::shared_ptr<const Trace>> traces;
  for (int rank = 0; rank < spec.ranks; ++rank)
    traces.push_back(std::make_shared<const Trace>(testing::ReadText(testing::RecordingOf(job, rank))));
  const SimulatedRun run(std::move(traces));
  Tables tables(run);
  const auto predictor = Predictor::ForRun(tables);
  if (!predictor || !predictor->check().accepted()) return 0;
  const auto said = predictor->Predict({{.name = std::string(fix), .value = std::string(value)}});
  EXPECT_TRUE(said && said->refusal.empty()) << (said ? said->refusal : said.error().message);
  return said ? 1 / said->model.expected : 0;
}

TEST(FsdpOfJobs, GathersAheadAndOnceAStep) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const double ahead = SpeedupOf(seed, 2, false), kept = SpeedupOf(seed, 0, true);
    EXPECT_GT(ahead, 1.05) << seed;
    testing::JobSpec spec = SpecOf(2 * seed + 1, 8, 24);  // the first step has the wait for late recorders
    spec.gathers_ahead = 0;
    EXPECT_NEAR(std::log(SaidOf(spec, "fsdp", "prefetch") / ahead), 0, 0.06) << seed << " " << ahead;
    EXPECT_NEAR(std::log(SaidOf(spec, "fsdp", "keep") / kept), 0, 0.04) << seed << " " << kept;
  }
}

// A pipeline of stages alone, and the same with each microbatch in pieces.
testing::JobSpec PipelineOf(uint64_t seed, int stages, int microbatches, int pieces) {
  testing::JobSpec spec{.seed = seed, .ranks = stages, .steps = 16, .pieces = pieces};
  spec.layout = {.pipeline = stages, .microbatches = microbatches};
  return spec;
}

TEST(PipelineOfJobs, MicrobatchesInPieces) {
  struct Case {
    int stages, microbatches, pieces;
  };
  for (const Case& one : {Case{4, 4, 2}, Case{4, 2, 4}, Case{2, 2, 2}, Case{8, 8, 2}})
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      const testing::JobSpec before = PipelineOf(seed, one.stages, one.microbatches, 1);
      const auto true_ns = [](const testing::JobSpec& spec) {
        return static_cast<double>(testing::MakeJob(spec).truth.step_ns);
      };
      const double gain = true_ns(before) / true_ns(PipelineOf(seed, one.stages, one.microbatches, one.pieces));
      const double said = SaidOf(before, "pipeline", std::to_string(one.pieces));
      EXPECT_GT(gain, 1.05);
      EXPECT_NEAR(std::log(said / gain), 0, 0.06)
          << one.stages << " stages, seed " << seed << ": " << said << " of " << gain;
    }
}

// The last stage computes half as long as the others, half as long again, or twice as long. The fill is that of all
// stages but the busiest; other waits of shorter stages stay.
TEST(PipelineOfJobs, StagesOfDifferentLengths) {
  for (const double last : {0.5, 1.5, 2.0})
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      testing::JobSpec before = PipelineOf(seed, 4, 4, 1), after = PipelineOf(seed, 4, 4, 2);
      before.last_stage = after.last_stage = last;
      const double gain = static_cast<double>(testing::MakeJob(before).truth.step_ns) /
                          static_cast<double>(testing::MakeJob(after).truth.step_ns);
      const double said = SaidOf(before, "pipeline", "2");
      EXPECT_NEAR(std::log(said / gain), 0, 0.06) << last << ", seed " << seed << ": " << said << " of " << gain;
    }
}

TEST(PipelineOfJobs, MessagesInBatchesSayTheSame) {
  testing::JobSpec spec = PipelineOf(1, 4, 4, 1);
  const double said = SaidOf(spec, "pipeline", "2");
  spec.batched_messages = true;
  EXPECT_NEAR(SaidOf(spec, "pipeline", "2"), said, 0.005);
}

}  // namespace
}  // namespace gapless::internal
