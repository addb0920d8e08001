// SPDX-License-Identifier: Apache-2.0
// Tests FindCriticalPath: the sum of its parts, their owners, and work off the path.
#include "predict/critical_path.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

int64_t At(const CriticalPath& path, Bound bound) { return path.by_bound[static_cast<size_t>(bound)]; }

int64_t ShareOf(const std::vector<PathShare>& shares, std::string_view name) {
  for (const PathShare& share : shares)
    if (share.name == name) return share.ns;
  return 0;
}

// 1 ms of loading, a launch, 2 ms of a kernel, an all-reduce of 0.5 ms after it on another stream, and a call that
// waits for that.
Job OneStep(const internal::Run& run) { return BuildJob(run.primary()); }
internal::Run Recording() {
  HandMade made;
  GpuOpDraft nccl;
  nccl.stream = 20, nccl.op_class = GpuOpClass::kCommunication;
  made.Step(0, 0, 4 * kMs);
  made.Loader(0, 1 * kMs);
  made.Operator("aten::mm", 1 * kMs, 1 * kMs + 30 * kUs);
  made.Kernel("gemm", {1 * kMs + 10 * kUs, 1 * kMs + 15 * kUs, 1 * kMs + 20 * kUs, 3 * kMs + 20 * kUs});
  made.Kernel("ncclDevKernel_AllReduce",
              {1 * kMs + 40 * kUs, 1 * kMs + 45 * kUs, 3 * kMs + 22 * kUs, 3 * kMs + 522 * kUs}, nccl);
  made.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, 1 * kMs + 60 * kUs, 3 * kMs + 530 * kUs);
  made.Operator("aten::item", 3 * kMs + 540 * kUs, 4 * kMs);
  return internal::Run({made.Finish()});
}

TEST(CriticalPath, AddsUpToTheStepByWhatItIsSpentOn) {
  const internal::Run run = Recording();
  const Job job = OneStep(run);
  const RankGraph& rank = job.ranks[0];
  const std::vector<int64_t> times = Replay(rank.graph);
  const CriticalPath path = FindCriticalPath(rank, rank.edge_ns, times);
  EXPECT_EQ(path.total_ns, 4 * kMs);
  EXPECT_EQ(At(path, Bound::kData), 1 * kMs);
  EXPECT_EQ(At(path, Bound::kCompute), 2 * kMs);
  EXPECT_EQ(At(path, Bound::kCommunication), 500 * kUs);
  EXPECT_EQ(At(path, Bound::kSync), 8 * kUs) << "from the end on the device to the return of the call";
  EXPECT_EQ(At(path, Bound::kHost), 10 * kUs + 10 * kUs + 460 * kUs);
  for (size_t i = 1; i < path.parts.size(); ++i) EXPECT_EQ(path.parts[i].start_ns, path.parts[i - 1].end_ns);
}

TEST(CriticalPath, SaysWhoseTimeItIs) {
  const internal::Run run = Recording();
  const Job job = OneStep(run);
  const RankGraph& rank = job.ranks[0];
  const CriticalPath path = FindCriticalPath(rank, rank.edge_ns, Replay(rank.graph));
  EXPECT_EQ(ShareOf(SharesBy(rank, path, PathOwner::kKernel), "gemm"), 2 * kMs + 10 * kUs) << "with its launch";
  EXPECT_EQ(ShareOf(SharesBy(rank, path, PathOwner::kOperator), "aten::mm"), 2 * kMs + 20 * kUs);
  EXPECT_EQ(ShareOf(SharesBy(rank, path, PathOwner::kCollective), "ncclDevKernel_AllReduce"), 502 * kUs);
  EXPECT_EQ(SharesBy(rank, path, PathOwner::kStream).size(), 2U);
  EXPECT_TRUE(SharesBy(rank, path, PathOwner::kModule).empty()) << "none was recorded";
}

// An operation of which no launch was recorded begins at its recorded time, and nobody on the host is to blame.
TEST(CriticalPath, BeginsWithAnOperationThatNobodyLaunched) {
  HandMade made;
  made.Unlaunched("early", 0, 2 * kMs).Unlaunched("early", 2 * kMs, 4 * kMs);
  const internal::Run run({made.Finish()});
  const Job job = OneStep(run);
  const RankGraph& rank = job.ranks[0];
  const CriticalPath path = FindCriticalPath(rank, rank.edge_ns, Replay(rank.graph));
  EXPECT_EQ(At(path, Bound::kCompute), 4 * kMs);
  EXPECT_EQ(At(path, Bound::kData), 0);
  EXPECT_TRUE(SharesBy(rank, path, PathOwner::kThread).empty());
}

// Checks that work off the path can be slower, up to a limit, without changing the step.
TEST(CriticalPath, TheRestDoesNotMatter) {
  const internal::Run run = Recording();
  const Job job = OneStep(run);
  const RankGraph& rank = job.ranks[0];
  const std::vector<int64_t> times = Replay(rank.graph);
  const CriticalPath path = FindCriticalPath(rank, rank.edge_ns, times);
  for (uint32_t edge = 0; edge < rank.edge_ns.size(); ++edge) {
    const auto is_it = [&](const PathPart& part) { return part.edge == edge; };
    const bool on_path = std::any_of(path.parts.begin(), path.parts.end(), is_it);
    std::vector<int64_t> edge_ns = rank.edge_ns;
    if (on_path || rank.graph.edges[edge].kind == EdgeKind::kRoot) continue;
    edge_ns[edge] /= 2;
    EXPECT_EQ(*rank.span.StepNs(Replay(rank.graph, edge_ns)), *rank.span.StepNs(times)) << edge;
  }
}

}  // namespace
}  // namespace gapless::internal
