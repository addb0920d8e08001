// SPDX-License-Identifier: Apache-2.0
// Tests the alignment of collectives over ranks: recordings with different starts, repetitions, contradictions, clocks,
// and the split into transfer and waiting.
#include "analyses/collective_match.h"

#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <vector>

#include "trace/builder.h"

namespace gapless::internal {
namespace {

struct CollectiveCall {
  int64_t start, end, bytes;
  int64_t seq = kAbsent;
};

std::shared_ptr<const Trace> CallingRank(int64_t rank, const std::vector<CollectiveCall>& calls,
                                         int64_t unix_ns = kAbsent, int32_t group_size = 2,
                                         std::string_view kind = "all_reduce") {
  TraceBuilder builder;
  builder.info().rank = rank;
  builder.info().start_unix_ns = unix_ns;
  TraceBuilder::Shard& shard = builder.NewShard();
  shard.Add(SliceRow{.name = shard.Text("first"), .pid = rank + 1, .tid = 1, .ts_ns = 0, .dur_ns = 1});
  for (const CollectiveCall& call : calls)
    shard.Add(CollectiveRow{.name = shard.Text("nccl"),
                            .kind = shard.Text(kind),
                            .group = shard.Text("0"),
                            .device = 0,
                            .stream = 20,
                            .ts_ns = call.start,
                            .dur_ns = call.end - call.start,
                            .group_size = group_size,
                            .bytes = call.bytes,
                            .seq = call.seq});
  return std::make_shared<const Trace>(std::move(builder).Finish());
}

struct Matched {
  explicit Matched(std::vector<std::shared_ptr<const Trace>> ranks)
      : run(std::move(ranks)), matches(MatchCollectives(run.primary())) {}
  std::vector<int64_t> Ordinals(size_t trace) const {
    std::vector<int64_t> all;
    for (const CollectiveMatch& collective_match : matches[trace]) all.push_back(collective_match.ordinal);
    return all;
  }
  Run run;
  CollectiveMatches matches;
};

using Ordinals = std::vector<int64_t>;

TEST(CollectiveMatch, RecordingsThatBeginAtDifferentCollectivesAreAligned) {
  const Matched run({CallingRank(0, {{100, 200, 1}, {300, 400, 2}, {500, 600, 3}, {700, 800, 4}}),
                     CallingRank(1, {{500, 600, 3}, {700, 800, 4}, {900, 950, 5}})});
  EXPECT_EQ(run.Ordinals(0), (Ordinals{0, 1, 2, 3}));
  EXPECT_EQ(run.Ordinals(1), (Ordinals{2, 3, 4}));
  EXPECT_EQ(run.matches[1][2].ranks, 1) << "rank 0 stopped recording before it";
  EXPECT_EQ(run.matches[1][2].transfer_ns, kAbsent);
}

TEST(CollectiveMatch, TheOtherMayAlsoBeginEarlier) {
  const Matched run({CallingRank(0, {{500, 600, 3}, {700, 800, 4}, {900, 990, 5}}),
                     CallingRank(1, {{300, 400, 2}, {500, 600, 3}, {700, 800, 4}})});
  EXPECT_EQ(run.Ordinals(0), (Ordinals{1, 2, 3}));
  EXPECT_EQ(run.Ordinals(1), (Ordinals{0, 1, 2}));
}

// Steps of 100 ms with two collectives each; rank 1 began to record one step later.
TEST(CollectiveMatch, AmongRepetitionsTheOneThatOverlapsInTime) {
  constexpr int64_t kMs = 1'000'000;
  std::vector<CollectiveCall> zero, one;
  for (int64_t step = 0; step < 6; ++step)
    for (const int64_t part : {1, 2})
      (step < 5 ? zero : one)
          .push_back({step * 100 * kMs + part * 10 * kMs, step * 100 * kMs + part * 10 * kMs + kMs, part});
  for (const CollectiveCall& call : zero)
    if (call.start > 100 * kMs) one.push_back(call);
  const Matched run({CallingRank(0, zero, 1'000), CallingRank(1, one, 1'000)});
  EXPECT_EQ(run.Ordinals(0), (Ordinals{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(run.Ordinals(1), (Ordinals{2, 3, 4, 5, 6, 7, 8, 9, 10, 11})) << "ten fit at 0, too, but at other times";
}

TEST(CollectiveMatch, RepetitionsThatNeverOverlapInTimeAreNotTheSame) {
  constexpr int64_t kMs = 1'000'000;
  const std::vector<CollectiveCall> zero = {{0, kMs, 1}, {100 * kMs, 101 * kMs, 1}, {200 * kMs, 201 * kMs, 1}};
  const std::vector<CollectiveCall> one = {
      {30 * kMs, 31 * kMs, 1}, {150 * kMs, 151 * kMs, 1}, {290 * kMs, 291 * kMs, 1}};
  EXPECT_EQ(Matched({CallingRank(0, zero, 0), CallingRank(1, one, 0)}).Ordinals(1),
            (Ordinals{kAbsent, kAbsent, kAbsent}));
  EXPECT_EQ(Matched({CallingRank(0, zero), CallingRank(1, one)}).Ordinals(1), (Ordinals{0, 1, 2}))
      << "no clocks to hold it against";
}

TEST(CollectiveMatch, TellsTransferFromWaiting) {
  const Matched run({CallingRank(0, {{0, 100'000, 1}, {200'000, 300'000, 1}}, 0),
                     CallingRank(1, {{90'000, 100'000, 1}, {260'000, 300'000, 1}}, 0)});
  const CollectiveMatch &early = run.matches[0][1], &late = run.matches[1][1];
  EXPECT_TRUE(run.matches[0][0].opening);
  EXPECT_FALSE(early.opening);
  EXPECT_EQ(early.transfer_ns, 40'000);
  EXPECT_EQ(early.wait_ns, 60'000);
  EXPECT_EQ(late.wait_ns, 0);
  EXPECT_TRUE(late.last);
  EXPECT_TRUE(early.first);
  EXPECT_EQ(late.caused_ns, 60'000);
  EXPECT_EQ(late.start_lag_ns, 60'000);
}

TEST(CollectiveMatch, WithinTheNoiseNobodyIsLast) {
  const Matched run({CallingRank(0, {{0, 9, 1}, {200, 300, 1}}), CallingRank(1, {{0, 9, 1}, {205, 300, 1}})});
  EXPECT_FALSE(run.matches[0][1].last || run.matches[1][1].last);
  EXPECT_EQ(run.matches[0][1].wait_ns, 5);
}

TEST(CollectiveMatch, WhatContradictsStaysUnmatched) {
  const Matched run(
      {CallingRank(0, {{0, 9, 1}, {20, 30, 2}, {40, 50, 3}}), CallingRank(1, {{0, 9, 3}, {20, 30, 9}, {40, 50, 7}})});
  EXPECT_EQ(run.Ordinals(1), (Ordinals{kAbsent, kAbsent, kAbsent}));
}

TEST(CollectiveMatch, PointToPointAndNamesThatSeveralGroupsShareAreLeftOut) {
  const Matched messages(
      {CallingRank(0, {{0, 9, 1}}, kAbsent, 2, "send"), CallingRank(1, {{0, 9, 1}}, kAbsent, 2, "recv")});
  EXPECT_EQ(messages.Ordinals(0), (Ordinals{kAbsent}));
  const Matched shared({CallingRank(0, {{0, 9, 1}}), CallingRank(1, {{0, 9, 1}}), CallingRank(2, {{0, 9, 1}})});
  EXPECT_EQ(shared.Ordinals(0), (Ordinals{kAbsent})) << "three ranks in groups of two";
}

TEST(CollectiveMatch, TheNumberThatTheLibraryGaveSettlesIt) {
  // Equal calls; rank 1's recorder started two calls later.
  std::vector<CollectiveCall> first, second;
  for (int64_t i = 0; i < 6; ++i) first.push_back({i * 100, i * 100 + 10, 64, 40 + i});
  for (int64_t i = 2; i < 6; ++i) second.push_back({i * 100, i * 100 + 10, 64, 40 + i});
  const Matched matched({CallingRank(0, first), CallingRank(1, second)});
  EXPECT_EQ(matched.Ordinals(1), (std::vector<int64_t>{2, 3, 4, 5}));
}

// Ten steps of one all-reduce each, at times that vary; the second recording begins two steps later, on a host whose
// clock is half a second ahead.
TEST(CollectiveMatch, WhereClocksAreWrongTheEndsOfCollectivesSayWhereTheyBelong) {
  std::vector<CollectiveCall> early, late;
  for (int64_t step = 0; step < 10; ++step) {
    const int64_t end = step * 20'000'000 + (step * step * 7 % 11) * 300'000 + 5'000'000;
    early.push_back({end - 1'000'000, end, 1});
    if (step >= 2) late.push_back({end - 400'000 - 40'000'000, end - 40'000'000 + step * 10, 1});
  }
  const Matched run({CallingRank(0, early, 1'000'000'000), CallingRank(1, late, 1'540'000'000)});
  EXPECT_EQ(run.Ordinals(1), (Ordinals{2, 3, 4, 5, 6, 7, 8, 9}));
}

// If every step takes the same time, nothing tells one place from another.
TEST(CollectiveMatch, OfEvenStepsAndWrongClocksNothingIsMatched) {
  std::vector<CollectiveCall> early, late;
  for (int64_t step = 0; step < 10; ++step) {
    const int64_t end = step * 100'000'000 + 5'000'000;
    early.push_back({end - 1'000'000, end, 1});
    if (step >= 2) late.push_back({end - 400'000 - 200'000'000, end - 200'000'000, 1});
  }
  const Matched run({CallingRank(0, early, 1'000'000'000), CallingRank(1, late, 1'250'000'000)});
  EXPECT_EQ(run.Ordinals(1), (Ordinals(8, kAbsent)));
}

}  // namespace
}  // namespace gapless::internal
