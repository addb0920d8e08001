// SPDX-License-Identifier: Apache-2.0
// Tests that the layout of a simulated job is found from its traffic alone, and from summaries as from recordings.
// bench/layout_quality.cc says how often, of many more.
#include "analyses/rows/parallel_layout.h"

#include <gtest/gtest.h>

#include "analyses/analysis.h"
#include "analyses/rows/rank_layout.h"
#include "base/strings.h"
#include "cluster/condense.h"
#include "cluster/testing/simulated_job.h"
#include "diagnose/testing/found.h"
#include "ingest/testing/read.h"
#include "report/layout_text.h"
#include "trace/summary_file.h"

namespace gapless::internal {
namespace {

using JobOfRanks = Run;  // in a test Run is a function of the test
using testing::SimulatedJob;

JobOfRanks RecordingsOf(const SimulatedJob& job) {
  std::vector<std::shared_ptr<const Trace>> traces;
  for (int rank = 0; rank < job.spec.ranks; ++rank)
    traces.push_back(std::make_shared<const Trace>(testing::ReadText(testing::RecordingOf(job, rank))));
  return JobOfRanks(std::move(traces));
}

JobOfRanks SummariesOf(const JobOfRanks& run) {
  std::vector<std::shared_ptr<const Trace>> traces;
  for (const RunTrace& of : run.traces()) {
    const JobOfRanks alone(std::vector{of.trace});
    Tables tables(alone);
    auto light = ReadSummary(Condense(tables, alone.traces()[0]));
    EXPECT_TRUE(light);
    if (light) traces.push_back(std::make_shared<const Trace>(*std::move(light)));
  }
  return JobOfRanks(std::move(traces));
}

// "data 8, tensor 4": known dimensions in the order of the table.
std::string LayoutOf(Tables& tables) {
  const auto rows = tables.Get<ParallelLayoutRows>();
  std::string text;
  for (size_t row = 0; row < rows.rows(); ++row)
    text += StrCat(row > 0 ? ", " : "", rows.Text(row, "dimension"), ' ', rows.Int(row, "size"));
  return text;
}

std::string LayoutOf(const testing::JobLayout& layout) {
  const int expert_data = layout.expert > 1 ? layout.data / layout.expert : 1;
  std::string text;
  const std::pair<std::string_view, int> kDimensions[] = {{"data", layout.data},
                                                          {"tensor", layout.tensor},
                                                          {"pipeline", layout.pipeline},
                                                          {"expert", layout.expert},
                                                          {"expert_data", expert_data}};
  for (const auto& [name, size] : kDimensions)
    if (size > 1) text += StrCat(text.empty() ? "" : ", ", name, ' ', size);
  return text;
}

TEST(ParallelLayoutOfJobs, IsFoundFromTrafficAlone) {
#ifdef GAPLESS_SANITIZED
  constexpr uint64_t kJobs = 1;  // twenty seconds each; bench/layout_quality asks a hundred
#else
  constexpr uint64_t kJobs = 4;
#endif
  for (uint64_t seed = 1; seed <= kJobs; ++seed) {
    const SimulatedJob job =
        testing::MakeJob({.seed = seed, .ranks = 32, .steps = 4, .names = testing::GroupNames::kUndefined});
    const JobOfRanks run = RecordingsOf(job);
    Tables tables(run);
    EXPECT_EQ(LayoutOf(tables), LayoutOf(job.spec.layout)) << seed;
  }
}

TEST(ParallelLayoutOfJobs, SummariesSayTheSame) {
  const SimulatedJob job = testing::MakeJob({.seed = 4,
                                             .steps = 4,
                                             .layout = {.data = 2, .tensor = 4, .pipeline = 2, .microbatches = 4},
                                             .names = testing::GroupNames::kUndefined});
  const JobOfRanks run = RecordingsOf(job), summaries = SummariesOf(run);
  Tables whole(run), light(summaries);
  EXPECT_EQ(LayoutOf(light), "data 2, tensor 4, pipeline 2");
  EXPECT_EQ(LayoutOf(light), LayoutOf(whole));
  EXPECT_EQ(LayoutText(light), "layout 2 data × 2 pipeline × 4 tensor (by its traffic)");
}

TEST(ParallelLayoutOfJobs, EachRankHasItsPlace) {
  const SimulatedJob job = testing::MakeJob({.seed = 4,
                                             .steps = 3,
                                             .layout = {.data = 2, .tensor = 4, .pipeline = 2, .microbatches = 2},
                                             .names = testing::GroupNames::kMegatron});
  const JobOfRanks run = RecordingsOf(job);
  Tables tables(run);
  const auto rows = tables.Get<RankLayoutRows>();
  ASSERT_EQ(rows.rows(), 16u);
  for (size_t row = 0; row < rows.rows(); ++row) {
    const int64_t rank = rows.Int(row, "rank");
    EXPECT_EQ(rows.Int(row, "tensor"), rank % 4);
    EXPECT_EQ(rows.Int(row, "data"), rank / 4 % 2);
    EXPECT_EQ(rows.Int(row, "pipeline"), rank / 8);
    EXPECT_GT(rows.Real(row, "bubble_share"), 0);
    EXPECT_TRUE(rows.IsNull(row, "expert"));
  }
  EXPECT_EQ(LayoutText(tables), "layout 2 data × 2 pipeline × 4 tensor (named by the program)");
}

const Bottleneck* BubbleOf(const Diagnosis& diagnosis) { return testing::Find(diagnosis, "pipeline_bubble"); }

TEST(PipelineBubbleRule, FindsWhatAFormulaSaysOfEvenStages) {
  const SimulatedJob job =
      testing::MakeJob({.seed = 3, .steps = 6, .layout = {.data = 2, .pipeline = 4, .microbatches = 6}});
  const JobOfRanks run = RecordingsOf(job);
  Tables tables(run);
  const Diagnosis diagnosis = Diagnose(tables);
  const Bottleneck* found = BubbleOf(diagnosis);
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(*found->share_of_step, 3.0 / 9, 0.06) << "three of nine microbatches, less what follows the last";
  EXPECT_TRUE(testing::Says(*found, "4 stages, 6 microbatches a step")) << found->evidence.front().text;
  EXPECT_EQ(found->recommendations.front().fix, "pipeline=2");
  const Bottleneck* whole = testing::Find(diagnosis, "exposed_communication");
  ASSERT_NE(whole, nullptr);
  EXPECT_TRUE(whole->recommendations.front().text.starts_with("the stages of the pipeline wait for each other"))
      << whole->recommendations.front().text;
}

TEST(PipelineBubbleRule, ManyMicrobatchesAndOtherLayoutsHaveNone) {
  for (const testing::JobLayout& layout : {testing::JobLayout{.pipeline = 2, .microbatches = 24},
                                           testing::JobLayout{.data = 4}, testing::JobLayout{.tensor = 4}}) {
    const JobOfRanks run = RecordingsOf(testing::MakeJob({.seed = 3, .steps = 4, .layout = layout}));
    Tables tables(run);
    const Diagnosis diagnosis = Diagnose(tables);
    EXPECT_EQ(BubbleOf(diagnosis), nullptr) << layout.microbatches;
  }
}

}  // namespace
}  // namespace gapless::internal
