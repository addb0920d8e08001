// SPDX-License-Identifier: Apache-2.0
// Tests that recordings of simulated jobs are read like those of real ones, and their summaries analysed.
#include "cluster/testing/simulated_job.h"

#include <gtest/gtest.h>

#include "analyses/analysis.h"
#include "cluster/condense.h"
#include "ingest/testing/read.h"
#include "trace/summary_file.h"

namespace gapless::internal {
namespace {

using testing::Fault;
using testing::JobSpec;
using testing::SimulatedJob;
using SimulatedRun = Run;  // in a test Run is a function of the test

std::shared_ptr<const Trace> ReadRank(const SimulatedJob& job, int rank) {
  return std::make_shared<const Trace>(testing::ReadText(testing::RecordingOf(job, rank)));
}

TEST(SimulatedJobRead, ARecordingIsReadWithoutComplaints) {
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    const SimulatedJob job = testing::MakeJob({.seed = seed, .ranks = 32, .steps = 3, .fault = Fault::kGarbage});
    const auto trace = ReadRank(job, 5);
    for (size_t row = 0; row < trace->read_stats.size(); ++row)
      ADD_FAILURE() << seed << ": " << trace->Text(trace->read_stats.kind[row]);
    EXPECT_EQ(trace->info.rank, 5);
    EXPECT_EQ(trace->info.world_size, 32);
    EXPECT_EQ(trace->info.host, "node000");
    EXPECT_GE(trace->steps.size(), 2U);
    EXPECT_GT(trace->collectives.size(), 10U);
    for (size_t row = 0; row < trace->gpu_ops.size(); ++row) ASSERT_TRUE(trace->gpu_ops.launch[row].valid()) << row;
  }
}

TEST(SimulatedJobRead, SummariesOfAJobAreAnalysed) {
  const SimulatedJob job = testing::MakeJob({.seed = 2, .ranks = 32, .steps = 4, .fault = Fault::kSlowGpu});
  std::vector<std::shared_ptr<const Trace>> summaries;
  for (int rank = 0; rank < 32; ++rank) {
    const SimulatedRun alone(std::vector{ReadRank(job, rank)});
    Tables tables(alone);
    auto light = ReadSummary(Condense(tables, alone.traces()[0]));
    ASSERT_TRUE(light) << light.error().message;
    summaries.push_back(std::make_shared<const Trace>(*std::move(light)));
  }
  const SimulatedRun run(std::move(summaries));
  Tables tables(run);
  const Table& ranks = tables.Get("ranks");
  ASSERT_EQ(ranks.rows(), 32U);
  EXPECT_EQ(ranks.Int(0, ranks.Find("rank")), job.truth.ranks[0]) << "the others wait for it";
}

}  // namespace
}  // namespace gapless::internal
