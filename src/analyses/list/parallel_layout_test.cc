// SPDX-License-Identifier: Apache-2.0
// Tests tables parallel_layout and rank_layout: dimensions by name, by traffic, and those that stay unknown.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;
using testing::kComm;

constexpr int64_t kStepUs = 1000;
using RanksOfJob = std::vector<std::shared_ptr<const Trace>>;

// A call of a collective in each step, `at` µs after its start.
struct GroupCall {
  std::string kind, group;
  int64_t at = 0, dur = 20, bytes = 4'000'000;
  int32_t peer = kAbsent32;
  int32_t size = 4;
};

// Three steps of a rank that computes from 100 to 900 µs of each, but for the calls that nothing hides.
std::shared_ptr<const Trace> RankWith(int64_t rank, const std::vector<GroupCall>& calls, const std::string& groups = {},
                                      std::string_view kernel = "gemm", bool hidden = false) {
  HandMade trace;
  trace.Rank(rank, 8).Process(100 + rank, 1'700'000'000'000'000'000);
  trace.builder().info().host = "node0";
  if (!groups.empty()) trace.Environment("distributed.group.1", groups);
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t t = step * kStepUs * kUs;
    trace.Step(step, t, t + kStepUs * kUs);
    int64_t from = t + 100 * kUs;
    for (const GroupCall& call : calls) {
      const int64_t begin = t + call.at * kUs, end = begin + call.dur * kUs;
      if (!hidden && begin > from) trace.Kernel(kernel, {from - 5 * kUs, from - 4 * kUs, from, begin});
      trace.Kernel("nccl", {begin - 5 * kUs, begin - 4 * kUs, begin, end}, kComm);
      trace.shard().Add(CollectiveRow{.name = trace.shard().Text("nccl"),
                                      .kind = trace.shard().Text(call.kind),
                                      .group = trace.shard().Text(call.group),
                                      .device = 0,
                                      .stream = 20,
                                      .ts_ns = begin,
                                      .dur_ns = end - begin,
                                      .group_size = call.size,
                                      .bytes = call.bytes,
                                      .src_rank = call.kind == "recv" ? call.peer : kAbsent32,
                                      .dst_rank = call.kind == "send" ? call.peer : kAbsent32});
      from = hidden ? from : end;
    }
    trace.Kernel(kernel, {from - 5 * kUs, from - 4 * kUs, from, t + 900 * kUs});
  }
  return trace.Finish();
}

// All ranks do the same.
RanksOfJob Alike(const std::vector<GroupCall>& calls, int64_t ranks = 4, bool hidden = false) {
  RanksOfJob all;
  for (int64_t rank = 0; rank < ranks; ++rank) all.push_back(RankWith(rank, calls, {}, "gemm", hidden));
  return all;
}

TEST(ParallelLayout, ReducingGradientsAfterTheForwardPassIsData) {
  Analysed run(Alike({{.kind = "all_reduce", .group = "1", .at = 500}, {.kind = "all_reduce", .group = "1", .at = 800}},
                     4, true));
  const auto layout = run["parallel_layout"];
  ASSERT_EQ(layout.rows(), 1u);
  EXPECT_EQ(layout.Text(0, "dimension"), "data");
  EXPECT_EQ(layout.Text(0, "known"), "inferred");
  EXPECT_EQ(layout.Int(0, "size"), 4);
  EXPECT_EQ(layout.Int(0, "groups"), 1);
  EXPECT_EQ(layout.Text(0, "ranks"), "0-3") << "all that recorded it";
  EXPECT_EQ(layout.Int(0, "stride"), 1);
  EXPECT_EQ(layout.Text(0, "kinds"), "reduce");
  EXPECT_DOUBLE_EQ(layout.Real(0, "calls_per_step"), 2);
  EXPECT_EQ(layout.Int(0, "time_ns"), 40 * kUs);
}

std::vector<GroupCall> OfEachBlock() {
  std::vector<GroupCall> calls;
  for (int64_t at = 120; at < 880; at += 60) calls.push_back({.kind = "all_reduce", .group = "1", .at = at});
  return calls;
}

TEST(ParallelLayout, ReducingAfterEachBlockWithinAHostIsTensor) {
  Analysed run(Alike(OfEachBlock()));
  EXPECT_EQ(run["parallel_layout"].Text(0, "dimension"), "tensor");
}

TEST(ParallelLayout, ReducingAllTheTimeOfWhichNoHostIsKnownIsUnknown) {
  RanksOfJob two{RankWith(0, OfEachBlock()), RankWith(1, OfEachBlock())};  // of four
  Analysed run(two);
  const auto layout = run["parallel_layout"];
  EXPECT_EQ(layout.Text(0, "dimension"), "unknown");
  EXPECT_TRUE(layout.IsNull(0, "known"));
  EXPECT_TRUE(layout.IsNull(0, "ranks"));
}

TEST(ParallelLayout, SmallReductionsAreNoGradients) {
  Analysed run(Alike({{.kind = "all_reduce", .group = "1", .at = 890, .bytes = 4}}));
  EXPECT_EQ(run["parallel_layout"].Text(0, "dimension"), "unknown");
}

TEST(ParallelLayout, TheNameOfTheProgramCountsForMore) {
  RanksOfJob all;
  for (int64_t rank = 0; rank < 4; ++rank) all.push_back(RankWith(rank, OfEachBlock(), "mesh_dp: 0-3"));
  Analysed run(all);
  const auto layout = run["parallel_layout"];
  EXPECT_EQ(layout.Text(0, "dimension"), "data");
  EXPECT_EQ(layout.Text(0, "known"), "named");
  EXPECT_EQ(layout.Text(0, "name"), "mesh_dp");
}

TEST(ParallelLayout, ANamedGroupWithoutTrafficIsThereToo) {
  Analysed run(RanksOfJob{RankWith(0, {}, "mesh_tp: 0-3")});
  const auto layout = run["parallel_layout"];
  ASSERT_EQ(layout.rows(), 1u);
  EXPECT_EQ(layout.Text(0, "dimension"), "tensor");
  EXPECT_EQ(layout.Text(0, "ranks"), "0-3");
  EXPECT_TRUE(layout.IsNull(0, "kinds"));
}

GroupCall Message(const std::string& kind, int64_t at, int32_t peer, int32_t size) {
  return {.kind = kind, .group = "1", .at = at, .peer = peer, .size = size};
}

TEST(ParallelLayout, MessagesBothWaysBetweenDifferentStagesAreAPipeline) {
  const std::vector<GroupCall> first{Message("send", 300, 1, 2), Message("recv", 600, 1, 2)};
  const std::vector<GroupCall> second{Message("recv", 300, 0, 2), Message("send", 600, 0, 2)};
  Analysed run(RanksOfJob{RankWith(0, first, {}, "embedding"), RankWith(1, second, {}, "softmax")});
  const auto layout = run["parallel_layout"];
  EXPECT_EQ(layout.Text(0, "dimension"), "pipeline");
  EXPECT_GT(layout.Real(0, "bubble_share"), 0.2) << "100 µs before, 100 after, 40 for messages";
  EXPECT_LT(layout.Real(0, "bubble_share"), 0.3);
  EXPECT_DOUBLE_EQ(layout.Real(0, "microbatches"), 1);
  EXPECT_EQ(layout.Int(0, "fill_ns"), 760 * kUs)
      << "of one other stage: its kernels; messages without numbers match none";
  const auto ranks = run["rank_layout"];
  ASSERT_EQ(ranks.rows(), 2u);
  EXPECT_EQ(ranks.Int(0, "pipeline"), 0);
  EXPECT_EQ(ranks.Int(1, "pipeline"), 1);
  EXPECT_TRUE(ranks.IsNull(0, "data"));
  EXPECT_EQ(ranks.Text(1, "host"), "node0");
}

TEST(ParallelLayout, ShapesThatAreSentAheadAreNoMicrobatches) {
  const auto shape = [](GroupCall call) { return call.bytes = 24, call.dur = 2, call; };
  const std::vector<GroupCall> first{shape(Message("send", 290, 1, 2)), Message("send", 300, 1, 2),
                                     Message("recv", 600, 1, 2)};
  const std::vector<GroupCall> second{shape(Message("recv", 290, 0, 2)), Message("recv", 300, 0, 2),
                                      Message("send", 600, 0, 2)};
  Analysed run(RanksOfJob{RankWith(0, first, {}, "embedding"), RankWith(1, second, {}, "softmax")});
  EXPECT_DOUBLE_EQ(run["parallel_layout"].Real(0, "microbatches"), 1);
}

TEST(ParallelLayout, MessagesBetweenTwoThatDoTheSameMayBeARing) {
  const std::vector<GroupCall> first{Message("send", 300, 1, 2), Message("recv", 600, 1, 2)};
  const std::vector<GroupCall> second{Message("recv", 300, 0, 2), Message("send", 600, 0, 2)};
  Analysed run(RanksOfJob{RankWith(0, first), RankWith(1, second)});
  EXPECT_EQ(run["parallel_layout"].Text(0, "dimension"), "unknown");
}

TEST(ParallelLayout, ARingThatSendsOneWayIsUnknown) {
  RanksOfJob all;
  for (int32_t rank = 0; rank < 4; ++rank)
    all.push_back(RankWith(rank, {Message("send", 300, (rank + 1) % 4, 4), Message("recv", 340, (rank + 3) % 4, 4)}));
  Analysed run(all);
  EXPECT_EQ(run["parallel_layout"].Text(0, "dimension"), "unknown");
}

RanksOfJob AllToAll(std::string_view kernel) {
  RanksOfJob all;
  for (int64_t rank = 0; rank < 4; ++rank) {
    const int64_t late = rank == 3 ? 200 : 0;
    all.push_back(
        RankWith(rank, {{.kind = "all_to_all", .group = "1", .at = 300 + late, .dur = 400 - late}}, {}, kernel));
  }
  return all;
}

TEST(ParallelLayout, AllToAllWithKernelsOfExpertsIsExpert) {
  Analysed run(AllToAll("grouped_gemm"));
  const auto layout = run["parallel_layout"];
  EXPECT_EQ(layout.Text(0, "dimension"), "expert");
  EXPECT_DOUBLE_EQ(layout.Real(0, "imbalance"), 600.0 / 450) << "of 400, 400, 400 and 600 µs";
  EXPECT_EQ(layout.Int(0, "busiest_rank"), 3);
  EXPECT_DOUBLE_EQ(run["rank_layout"].Real(0, "expert_load"), 400.0 / 450);
}

TEST(ParallelLayout, AllToAllAloneMayBeEmbeddings) {
  Analysed run(AllToAll("embedding_bag"));
  EXPECT_EQ(run["parallel_layout"].Text(0, "dimension"), "unknown");
  EXPECT_TRUE(run["parallel_layout"].IsNull(0, "imbalance"));
}

TEST(ParallelLayout, AJobWithoutGroupsHasNoLayout) {
  HandMade trace;
  trace.Rank(0).Step(0, 0, 1000 * kUs).Kernel("gemm", {0, 1 * kUs, 2 * kUs, 500 * kUs});
  Analysed run(trace);
  EXPECT_EQ(run["parallel_layout"].rows(), 0u);
  EXPECT_EQ(run["rank_layout"].rows(), 0u);
}

}  // namespace
}  // namespace gapless::internal
