// SPDX-License-Identifier: Apache-2.0
// Tests the replay of several ranks: collectives, stragglers, clocks, and collectives that contradict each other.
#include "predict/job.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "predict/self_check.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

constexpr int64_t kJobSteps = 4, kWire = 200 * kUs;

// Two ranks compute, `first` and `second` ns, and meet in an all-reduce of 200 µs in each of four steps. The clock of
// the second runs `ahead` of the first's.
std::shared_ptr<const Trace> Rank(int64_t rank, int64_t own_ns, int64_t slower_ns, int64_t ahead = 0,
                                  int32_t ranks = 2) {
  HandMade made;
  made.Rank(rank);
  const int64_t step_ns = slower_ns + kWire + 100 * kUs;
  if (ahead > 0) made.Operator("aten::early", 0, 10 * kUs);
  for (int64_t step = 0; step < kJobSteps; ++step) {
    const int64_t start = ahead + step * step_ns;
    GpuOpDraft nccl;
    nccl.stream = 20, nccl.op_class = GpuOpClass::kCommunication;
    made.Kernel("gemm", {start, start + 5 * kUs, start + 10 * kUs, start + 10 * kUs + own_ns});
    const int64_t meets = start + 12 * kUs + own_ns, over = start + 12 * kUs + slower_ns + kWire;
    made.Kernel("ncclDevKernel_AllReduce", {start + 6 * kUs, start + 9 * kUs, meets, over}, nccl);
    made.Collective("all_reduce", meets, over, 1000 + step, 0, 20, ranks);
    made.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, start + 20 * kUs, over + 5 * kUs);
    made.Step(step, start, start + step_ns);
  }
  return made.Finish();
}

Job JobOf(const internal::Run& run) { return BuildJob(run.primary()); }

TEST(Job, RanksMeetInTheirCollectives) {
  const internal::Run run({Rank(0, 2 * kMs, 2 * kMs), Rank(1, 1 * kMs, 2 * kMs)});
  const Job job = JobOf(run);
  ASSERT_EQ(job.ranks.size(), 2U);
  EXPECT_EQ(job.meeting_sizes, std::vector<uint32_t>(kJobSteps, 2));
  EXPECT_EQ(CheckJob(job).refusal, "");
  const auto times = ReplayJob(job);
  ASSERT_EQ(times.size(), 2U);
  EXPECT_NEAR(static_cast<double>(*StepNs(job, times)), 2.3e6, 0.05e6);
}

// The wait of the faster rank follows from the other: with the slower one's kernels half as long both take half.
TEST(Job, AStragglerThatIsGoneFreesTheOthers) {
  const internal::Run run({Rank(0, 2 * kMs, 2 * kMs), Rank(1, 1 * kMs, 2 * kMs)});
  const Job job = JobOf(run);
  std::vector<std::vector<int64_t>> edge_ns;
  for (const RankGraph& rank : job.ranks) {
    edge_ns.push_back(rank.edge_ns);
    const GpuOpTable& ops = rank.of->trace->gpu_ops;
    for (uint32_t op = 0; op < ops.size(); ++op)
      if (rank.of->rank() == 0 && ops.op_class[op] != GpuOpClass::kCommunication)
        edge_ns.back()[rank.graph.OpEdge(op)] /= 2;
  }
  const auto times = ReplayJob(job, edge_ns);
  ASSERT_EQ(times.size(), 2U);
  for (size_t rank = 0; rank < 2; ++rank)
    EXPECT_NEAR(static_cast<double>(*job.ranks[rank].span.StepNs(times[rank])), 1.3e6, 0.05e6) << rank;
}

// The slowest of twelve ranks is neither the first nor the last to be replayed: it wakes all that wait for it.
TEST(Job, AllRanksLeaveACollectiveWithTheSlowest) {
  std::vector<std::shared_ptr<const Trace>> ranks;
  for (int64_t rank = 0; rank < 12; ++rank)
    ranks.push_back(Rank(rank, rank == 5 ? 3 * kMs : (rank + 1) * 100 * kUs, 3 * kMs, 0, 12));
  const internal::Run run(std::move(ranks));
  const Job job = JobOf(run);
  EXPECT_EQ(job.meeting_sizes, std::vector<uint32_t>(kJobSteps, 12));
  const auto times = ReplayJob(job);
  ASSERT_EQ(times.size(), 12U);
  for (size_t rank = 0; rank < 12; ++rank)
    EXPECT_NEAR(static_cast<double>(*job.ranks[rank].span.StepNs(times[rank])), 3.3e6, 0.05e6) << rank;
}

TEST(Job, ClocksAreBroughtTogether) {
  const internal::Run run({Rank(0, 2 * kMs, 2 * kMs), Rank(1, 1 * kMs, 2 * kMs, 5 * kMs)});
  const Job job = JobOf(run);
  ASSERT_EQ(job.ranks.size(), 2U);
  EXPECT_EQ(job.ranks[1].offset_ns - job.ranks[0].offset_ns, job.ranks[1].of->rank() == 1 ? 5 * kMs : -5 * kMs);
  EXPECT_EQ(CheckJob(job).refusal, "");
}

TEST(Job, ARankThatMeetsNobodyIsLeftOut) {
  HandMade alone;
  alone.Rank(1).Kernel("gemm", {0, 5 * kUs, 10 * kUs, 500 * kUs}).Step(0, 0, 600 * kUs);
  const internal::Run run({Rank(0, 2 * kMs, 2 * kMs), alone.Finish()});
  EXPECT_EQ(JobOf(run).ranks.size(), 1U);
}

// Recordings that contradict each other: of each other's collective both have only seen the end.
TEST(Job, CollectivesThatContradictEachOtherEndTheReplay) {
  const internal::Run run({Rank(0, 2 * kMs, 2 * kMs), Rank(1, 1 * kMs, 2 * kMs)});
  Job job = JobOf(run);
  std::vector<Stop>& stops = job.ranks[0].stops;  // begin and end of the first collective, then of the second
  ASSERT_GE(stops.size(), 4U);
  std::swap(stops[0].meeting, stops[2].meeting);
  EXPECT_TRUE(ReplayJob(job).empty());
}

}  // namespace
}  // namespace gapless::internal
