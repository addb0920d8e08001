// SPDX-License-Identifier: Apache-2.0
// Tests the graph of a recording: its replay reproduces the recorded times, and edges lead from earlier instants.
#include "predict/graph.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::HandMade;
using testing::kBackward;
using testing::kMain;

// The times of a replay in which kernels take `kernels` times, and the host `host` times as long.
std::vector<int64_t> Scaled(const Graph& graph, double kernels, double host = 1) {
  std::vector<int64_t> edge_ns;
  for (const Edge& edge : graph.edges) {
    const bool is_host = edge.kind == EdgeKind::kHost || edge.kind == EdgeKind::kCall;
    const double factor = IsDeviceTime(edge.kind) ? kernels : is_host ? host : 1;
    edge_ns.push_back(static_cast<int64_t>(static_cast<double>(edge.ns) * factor));
  }
  return Replay(graph, edge_ns);
}

// Twenty kernels of 100 µs launched one every 10 µs, so that they queue up, and a call that waits for all of them.
std::shared_ptr<const Trace> GpuBound() {
  HandMade trace;
  for (int64_t i = 0; i < 20; ++i)
    trace.Kernel("gemm", {i * 10'000, i * 10'000 + 4000, 8000 + i * 101'000, 108'000 + i * 101'000});
  trace.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, 210'000, 2'030'000);
  trace.Operator("aten::item", 2'031'000, 2'040'000);
  return trace.Finish();
}

TEST(Graph, ReplaysWhatWasRecorded) {
  const auto trace = GpuBound();
  const Graph graph = BuildGraph(*trace);
  EXPECT_EQ(Replay(graph), graph.recorded_ns);
  EXPECT_EQ(graph.facts.ops, 20);
  EXPECT_EQ(graph.facts.blocking_calls, 1);
}

TEST(Graph, EveryEdgeLeadsFromAnEarlierInstant) {
  const auto trace = GpuBound();
  const Graph graph = BuildGraph(*trace);
  for (Instant instant = 0; instant < graph.size(); ++instant)
    for (uint32_t edge = graph.first_edge[instant]; edge < graph.first_edge[instant + 1]; ++edge)
      EXPECT_TRUE(graph.edges[edge].kind == EdgeKind::kRoot ? graph.from[edge] == kNoInstant
                                                            : graph.from[edge] < instant);
}

TEST(Graph, ABlockingCallTakesAsLongAsTheDevice) {
  const auto trace = GpuBound();
  const Graph graph = BuildGraph(*trace);
  const Instant last = graph.slice_end[trace->slices.size() - 1];
  EXPECT_EQ(graph.recorded_ns[last], 2'040'000);
  EXPECT_NEAR(static_cast<double>(Scaled(graph, 0.5)[last]), 2'040'000 - 20 * 50'000, 2000);
  EXPECT_NEAR(static_cast<double>(Scaled(graph, 2)[last]), 2'040'000 + 20 * 100'000, 2000);
  // Without the rule its recorded duration is replayed as if it were work, and a faster device buys nothing.
  const Graph anchored = BuildGraph(*trace, {.blocking_calls = false});
  EXPECT_EQ(Scaled(anchored, 0.5)[last], 2'040'000);
}

TEST(Graph, ALaunchIntoAFullQueueReturnsWhenThereIsRoom) {
  HandMade made;
  for (int64_t i = 0; i < 20; ++i)
    made.Kernel("gemm", {i * 10'000, i * 10'000 + 4000, 8000 + i * 101'000, 108'000 + i * 101'000});
  made.Kernel("gemm", {200'000, 515'000, 2'028'000, 2'128'000});  // returns just after the sixth kernel has begun
  const auto trace = made.Finish();
  const Graph graph = BuildGraph(*trace);
  EXPECT_EQ(graph.facts.full_queues, 1);
  const Instant end = graph.slice_end[trace->slices.size() - 1];
  EXPECT_EQ(Replay(graph)[end], 515'000);
  EXPECT_NEAR(static_cast<double>(Scaled(graph, 0.5)[end]), 515'000 - 5 * 50'000, 2000);
  EXPECT_EQ(Scaled(BuildGraph(*trace, {.full_queues = false}), 0.5)[end], 515'000);
}

TEST(Graph, AThreadThatWaitsGoesOnAfterTheOneThatWorked) {
  HandMade made;
  made.Operator("forward", 0, 100'000);
  made.Operator("backward", 110'000, 2'110'000, kBackward);
  made.Operator("optimizer", 2'120'000, 2'220'000);
  const auto trace = made.Finish();
  const Graph graph = BuildGraph(*trace);
  EXPECT_EQ(graph.facts.thread_waits, 1);
  const Instant end = graph.slice_end[trace->slices.size() - 1];
  EXPECT_EQ(Replay(graph)[end], 2'220'000);
  EXPECT_NEAR(static_cast<double>(Scaled(graph, 1, 0.5)[end]), 1'120'000, 12'000);
  EXPECT_GT(Scaled(BuildGraph(*trace, {.thread_waits = false}), 1, 0.5)[end], 1'105'000);
}

TEST(Graph, AStreamThatWaitsForAnotherIsFound) {
  HandMade made;
  GpuOpDraft second;
  second.stream = 20;
  made.Kernel("gemm", {0, 4000, 10'000, 510'000});
  made.Kernel("all_reduce", {20'000, 24'000, 512'000, 612'000}, second);
  const auto trace = made.Finish();
  const Graph graph = BuildGraph(*trace);
  EXPECT_EQ(graph.facts.waits_inferred, 1);
  EXPECT_EQ(Replay(graph)[graph.op_begin[1]], 512'000);
  EXPECT_EQ(Scaled(graph, 0.5)[graph.op_begin[1]], 262'000);
}

TEST(Graph, PollersAreNoPartOfTheProgram) {
  HandMade made;
  made.Operator("forward", 0, 100'000);
  for (int64_t i = 0; i < 20; ++i)
    made.Call("cudaEventQuery", ApiKind::kEventQuery, i * 100'000, i * 100'000 + 2000, 7);
  made.Operator("optimizer", 2'120'000, 2'220'000);
  const auto trace = made.Finish();
  EXPECT_EQ(BuildGraph(*trace).facts.thread_waits, 0);
  EXPECT_EQ(BuildGraph(*trace, {.drop_pollers = false}).facts.thread_waits, 1);  // a false anchor
}

TEST(Graph, OfNothingIsEmpty) {
  HandMade made;
  const auto trace = made.Finish();
  const Graph graph = BuildGraph(*trace);
  EXPECT_EQ(graph.size(), 0U);
  EXPECT_TRUE(Replay(graph).empty());
}

}  // namespace
}  // namespace gapless::internal
