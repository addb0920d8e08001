// SPDX-License-Identifier: Apache-2.0
// Dumps of several ranks held against each other. The judgement of PyTorch's own analyser on the same dumps
// (torch.distributed.flight_recorder of 2.15) is in docs/formats/communication.md.
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

struct OneCall {
  int64_t seq;
  std::string_view op = "all_reduce", state = "started", shape = "[[4]]", dtype = "Float";
  int32_t src = kAbsent32, dst = kAbsent32;
  int64_t in = kAbsent, out = kAbsent;
};

std::string_view OpKind(std::string_view op) { return op.substr(0, op.find(' ')); }

std::shared_ptr<const Trace> DumpOf(int64_t rank, std::vector<OneCall> calls, std::string_view ranks = "[0, 1]") {
  HandMade trace;
  trace.Rank(rank);
  trace.builder().info().format = "flight_recorder";
  auto& shard = trace.shard();
  int64_t ts = 0;
  for (const OneCall& call : calls) {
    const StackId outer =
        trace.builder().AddFrame({.parent = {}, .file = "train.py", .line = 40 + rank, .function = "f"});
    const StackId inner = trace.builder().AddFrame(
        {.parent = outer, .file = "/lib/python3.11/site-packages/torch/x.py", .line = 7, .function = "all_reduce"});
    CollectiveRow row{.name = shard.Text(std::string("nccl:") + std::string(call.op)),
                      .kind = shard.Text(OpKind(call.op)),
                      .ts_ns = ts += 1000,
                      .dur_ns = kAbsent};
    row.group = shard.Text("0:default_pg"), row.group_ranks = shard.Text(ranks), row.seq = call.seq;
    row.state = shard.Text(call.state), row.in_shape = row.out_shape = shard.Text(call.shape);
    row.dtype = shard.Text(call.dtype), row.src_rank = call.src, row.dst_rank = call.dst, row.stack = inner;
    row.in_elements = call.in, row.out_elements = call.out;
    shard.Add(row);
  }
  return trace.Finish();
}

constexpr OneCall kDoneCall{.seq = 1, .state = "completed"};

TEST(HungCollectives, WhatAllCalledAndEndedIsNoRow) {
  Analysed run(std::vector{DumpOf(0, {kDoneCall}), DumpOf(1, {kDoneCall})});
  EXPECT_EQ(run["hung_collectives"].rows(), 0U);
}

TEST(HungCollectives, ARankThatDidNotCallIsMissing) {
  Analysed run(std::vector{DumpOf(0, {kDoneCall, {.seq = 2}}), DumpOf(1, {kDoneCall})});
  const auto rows = run["hung_collectives"];
  ASSERT_EQ(rows.rows(), 1U);
  EXPECT_EQ(rows.Text(0, "problem"), "missing");
  EXPECT_EQ(rows.Int(0, "seq"), 2);
  EXPECT_EQ(rows.Text(0, "ranks_missing"), "1");
  EXPECT_EQ(rows.Text(0, "ranks_started"), "0");
  EXPECT_EQ(rows.Text(0, "source_line"), "train.py:40") << "where rank 0 waits, in the program's own code";
  EXPECT_EQ(rows.Text(0, "last_line"), "train.py:41") << "what rank 1 called last";
}

// Two of three ranks agree: the third is the one that differs, though it is the first.
TEST(HungCollectives, MostRanksAreTakenForRight) {
  const OneCall small{.seq = 1, .shape = "[[3]]"};
  Analysed run(std::vector{DumpOf(0, {small}, "[0, 1, 2]"), DumpOf(1, {{.seq = 1}}, "[0, 1, 2]"),
                           DumpOf(2, {{.seq = 1}}, "[0, 1, 2]")});
  const auto rows = run["hung_collectives"];
  ASSERT_EQ(rows.rows(), 1U);
  EXPECT_EQ(rows.Text(0, "problem"), "shape");
  EXPECT_EQ(rows.Text(0, "ranks_differing"), "0");
  EXPECT_EQ(rows.Text(0, "detail"), "input [[3]] instead of [[4]]");
  EXPECT_EQ(rows.Text(0, "source_line"), "train.py:40");
}

TEST(HungCollectives, KindsAndTypesAreCompared) {
  Analysed kinds(std::vector{DumpOf(0, {{.seq = 1}}), DumpOf(1, {{.seq = 1, .op = "broadcast"}})});
  EXPECT_EQ(kinds["hung_collectives"].Text(0, "problem"), "kind");
  EXPECT_EQ(kinds["hung_collectives"].Text(0, "detail"), "broadcast instead of all_reduce");
  Analysed types(std::vector{DumpOf(0, {{.seq = 1}}), DumpOf(1, {{.seq = 1, .dtype = "Half"}})});
  EXPECT_EQ(types["hung_collectives"].Text(0, "problem"), "dtype");
}

TEST(HungCollectives, SizesOfAnAllToAllMayDifferButAddUp) {
  const auto call = [](int64_t in, int64_t out, std::string_view shape) {
    return OneCall{.seq = 1, .op = "all_to_all", .state = "completed", .shape = shape, .in = in, .out = out};
  };
  Analysed good(std::vector{DumpOf(0, {call(4, 6, "[[4]]")}), DumpOf(1, {call(8, 6, "[[8]]")})});
  EXPECT_EQ(good["hung_collectives"].rows(), 0U);
  Analysed bad(std::vector{DumpOf(0, {call(4, 6, "[[4]]")}), DumpOf(1, {call(8, 7, "[[8]]")})});
  ASSERT_EQ(bad["hung_collectives"].rows(), 1U);
  EXPECT_EQ(bad["hung_collectives"].Text(0, "detail"), "all ranks together give 12 elements and take 13");
}

TEST(HungCollectives, WhatAllCalledAlikeIsStuckAndARankWithoutADumpIsUnknown) {
  Analysed both(std::vector{DumpOf(0, {{.seq = 1}}), DumpOf(1, {{.seq = 1, .state = "scheduled"}})});
  EXPECT_EQ(both["hung_collectives"].Text(0, "problem"), "stuck");
  EXPECT_EQ(both["hung_collectives"].Text(0, "ranks_scheduled"), "1");
  Analysed one(std::vector{DumpOf(0, {{.seq = 1}})});
  EXPECT_EQ(one["hung_collectives"].Text(0, "problem"), "stuck");
  EXPECT_EQ(one["hung_collectives"].Text(0, "ranks_unknown"), "1");
}

// The ring of rank 1 begins at number 2: it may well have called number 1.
TEST(HungCollectives, WhatTheRingOverwroteSaysNothing) {
  Analysed run(std::vector{DumpOf(0, {kDoneCall, {.seq = 2, .state = "completed"}}),
                           DumpOf(1, {{.seq = 2, .state = "completed"}})});
  EXPECT_EQ(run["hung_collectives"].rows(), 0U);
}

TEST(HungCollectives, MessagesAreMatchedByTheirEnds) {
  const OneCall send{.seq = 5, .op = "send 0->1", .src = 0, .dst = 1},
      receive{.seq = 9, .op = "recv 1<-0", .src = 0, .dst = 1};
  Analysed alone(std::vector{DumpOf(0, {send}), DumpOf(1, {kDoneCall})});
  const auto rows = alone["hung_collectives"];
  bool missing = false;
  for (size_t row = 0; row < rows.rows(); ++row)
    missing = missing || (rows.Text(row, "problem") == "missing" && rows.Text(row, "name") == "nccl:send 0->1" &&
                          rows.Text(row, "ranks_missing") == "1");
  EXPECT_TRUE(missing);
  OneCall larger = receive;
  larger.shape = "[[8]]";
  Analysed sizes(std::vector{DumpOf(0, {send}), DumpOf(1, {larger})});
  EXPECT_EQ(sizes["hung_collectives"].Text(0, "detail"), "sent [[4]], received [[8]]");
}

}  // namespace
}  // namespace gapless::internal
