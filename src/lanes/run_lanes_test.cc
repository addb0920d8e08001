// SPDX-License-Identifier: Apache-2.0
// Tests the lanes of a run and their tiles: against a plain form on recordings by chance, and by hand where a lane is
// no table's rows.
#include "lanes/run_lanes.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "analyses/testing/hand_made.h"
#include "lanes/excerpt.h"
#include "lanes/search.h"
#include "lanes/selection.h"
#include "lanes/testing/plain_lanes.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// Kernels of all lengths on two streams, some of which overlap, and nested calls on two threads, some of which do not
// nest: what recorders write.
void AddByChance(HandMade& trace, uint32_t seed, int events) {
  std::mt19937 random(seed);
  const auto below = [&](int64_t most) { return static_cast<int64_t>(random()) % most; };
  int64_t at = 0, device = 1000;
  for (int i = 0; i < events; ++i) {
    const int64_t length = below(4) == 0 ? below(1'000'000) : below(300);
    const int64_t tid = 1 + below(2);
    trace.Operator("op" + std::to_string(below(20)), at, at + length, tid);
    if (below(3) == 0) trace.Operator("inner", at + length / 4, at + length / 2, tid);
    if (below(9) == 0) trace.Operator("not nested", at + length / 2, at + length + below(500), tid);
    if (below(4) == 0) trace.Python("train.py: f", at, at + length, "train.py:1", tid);
    const int64_t kernel = below(8) == 0 ? 0 : below(below(5) == 0 ? 500'000 : 200);
    trace.Unlaunched("k" + std::to_string(below(30)), device, device + kernel, {.stream = 7 + below(2)});
    device += below(6) == 0 ? kernel / 2 : kernel + below(150);
    at += below(5) == 0 ? length / 2 : length + below(200);
  }
}

const Lane& LaneOfKind(const TraceLanes& lanes, LaneKind kind) {
  const Lane* lane = lanes.FirstOf(kind);
  EXPECT_NE(lane, nullptr) << ToString(kind);
  return *lane;
}

TEST(RunLanes, EveryTileHoldsExactlyWhatTouchesItAtEveryLevel) {
  for (const uint32_t seed : {1U, 2U, 3U}) {
    HandMade trace;
    AddByChance(trace, seed, 3000);
    Analysed run(trace);
    const RunLanes lanes(run.tables());
    for (const int level : {0, 1, 5, 7, 8, 9, 12, 13, 15, 16, 20, 24, 30, kMaxLevel})
      testing::ExpectPlainTiles(lanes, *lanes.traces().front(), level, 1200);
  }
}

TEST(RunLanes, TwoRanksHaveTilesOfTheirOwnOnOneTimeAxis) {
  HandMade first, second;
  first.Rank(0, 2), second.Rank(1, 2);
  AddByChance(first, 4, 400);
  AddByChance(second, 5, 400);
  Analysed run({first.Finish(), second.Finish()});
  const RunLanes lanes(run.tables());
  ASSERT_EQ(lanes.traces().size(), 2u);
  for (const auto& trace : lanes.traces()) testing::ExpectPlainTiles(lanes, *trace, 10, 1000);
  std::set<int64_t> numbers;
  size_t count = 0;
  for (const TimelineTrace& trace : lanes.Overview().traces)
    for (const TimelineLane& lane : trace.lanes) numbers.insert(lane.lane), ++count;
  EXPECT_EQ(numbers.size(), count) << "a lane has one number in the whole run";
}

TEST(RunLanes, AtLevelZeroEveryKernelHasItsOwnName) {
  HandMade trace;
  trace.Step(0, 0, 10'000);
  for (int64_t i = 0; i < 50; ++i) trace.Unlaunched("kernel" + std::to_string(i), 100 + 2 * i, 101 + 2 * i);
  Analysed run(trace);
  const RunLanes lanes(run.tables());
  const TraceLanes* const traces[] = {lanes.traces().front().get()};
  const int64_t stream = LaneOfKind(*traces[0], LaneKind::kStream).about.lane;
  const auto close = testing::SpansIn(lanes.Tile(traces, 0, 0), stream);
  ASSERT_EQ(close.size(), 50u);
  for (size_t i = 0; i < close.size(); ++i) EXPECT_EQ(close[i].name, "kernel" + std::to_string(i));
  const auto far = testing::SpansIn(lanes.Tile(traces, 8, 0), stream);
  ASSERT_EQ(far.size(), 1u);
  EXPECT_EQ(far[0].count, 50);
  EXPECT_EQ(far[0].busy, 50);
}

// Calls of the system may lie before the first slice and behind the last; a thread without slices has a lane of them,
// too.
TEST(RunLanes, CallsOfTheSystemHaveLanesOfTheirOwn) {
  HandMade trace;
  trace.Step(0, 0, 10'000).Operator("aten::mm", 0, 400);
  trace.OsCall("read", 100, 300).OsCall("poll", -500, 12'000, 77).OsCall("futex", 200, 250, 77);
  Analysed run(trace);
  const RunLanes lanes(run.tables());
  const TimelineOverview overview = lanes.Overview();
  EXPECT_EQ(overview.from_ns, -500);
  EXPECT_EQ(overview.to_ns, 12'000);
  std::vector<std::pair<std::string, int64_t>> calls;  // label, events
  for (const TimelineLane& lane : overview.traces.front().lanes)
    if (lane.kind == LaneKind::kCalls) calls.emplace_back(lane.label, lane.events);
  const std::string main = overview.traces.front().lanes[1].label;  // below the steps
  const std::vector<std::pair<std::string, int64_t>> expected = {{main + ", system", 1}, {"thread 77, system", 2}};
  EXPECT_EQ(calls, expected);
  const auto found = SearchEvents(lanes, "futex", 9);
  ASSERT_TRUE(found && found->hits.size() == 1);
  EXPECT_EQ(found->hits[0].kind, "os_call");
  EXPECT_EQ(found->hits[0].id, -1) << "the table has no ids";
  const SelectionSums sums = SumSelection(*lanes.traces().front(), {.from = 0, .to = 260});
  const testing::TableByName system(sums.tables.back().table);
  EXPECT_EQ(testing::IntWhere(system, "name", "poll", "total_ns"), 260) << "what is outside does not count";
  EXPECT_EQ(testing::IntWhere(system, "name", "read", "total_ns"), 160) << "it goes on behind the selection";
  const TimelineExcerpt excerpt = ExcerptOf(run.tables(), 1000);
  EXPECT_EQ(excerpt.overview.to_ns, 10'000) << "a report has the work, not what the system saw";
  for (const TimelineLane& lane : excerpt.overview.traces.front().lanes) EXPECT_NE(lane.kind, LaneKind::kCalls);
}

// A sample stands for its weight, and no further than to the next one; without a weight, for the usual pause.
TEST(RunLanes, SamplesLastUntilTheNextOne) {
  HandMade trace;
  trace.Step(0, 0, 1000).Operator("aten::mm", 0, 400);
  const StackId read = trace.builder().AddFrame({.parent = {}, .function = "read"});
  const StackId work = trace.builder().AddFrame({.parent = {}, .function = "work"});
  TraceBuilder::Shard& shard = trace.shard();
  shard.Add(SampleRow{.ts_ns = 0, .tid = 5, .stack = read});
  shard.Add(SampleRow{.ts_ns = 100, .tid = 5, .stack = work});
  shard.Add(SampleRow{.ts_ns = 200, .tid = 5, .stack = read, .weight_ns = 40});
  shard.Add(SampleRow{.ts_ns = 900, .tid = 5, .stack = work});
  for (const int64_t at : {300, 980})  // a thread that mostly sleeps, in which it is not sampled
    shard.Add(SampleRow{.ts_ns = at, .tid = 6, .stack = work});
  shard.Add(SampleRow{.ts_ns = 950, .tid = 5, .stack = work, .count = 7});  // seven at unknown times
  Analysed run(trace);
  const RunLanes lanes(run.tables());
  const TraceLanes* const traces[] = {lanes.traces().front().get()};
  using Spans = std::vector<std::tuple<std::string, int64_t, int64_t>>;
  const auto spans_of = [&](int64_t tid) {
    Spans spans;
    const Lane* lane = traces[0]->LaneOf(LaneKind::kSamples, tid);
    for (const testing::PlainSpan& span : testing::SpansIn(lanes.Tile(traces, 0, 0), lane->about.lane))
      spans.emplace_back(span.name, span.start, span.end);
    return spans;
  };
  EXPECT_EQ(spans_of(5), Spans({{"read", 0, 100}, {"work", 100, 200}, {"read", 200, 240}, {"work", 900, 1000}}));
  EXPECT_EQ(spans_of(6), Spans({{"work", 300, 400}, {"work", 980, 1080}}));
}

TEST(RunLanes, ADeviceIsInOneStateAtATime) {
  HandMade trace;
  trace.Step(0, 0, 10'000).Operator("aten::mm", 0, 400);
  trace.Kernel("mm", {100, 200, 1000, 3000}).Kernel("nccl", {300, 350, 2000, 5000}, testing::kComm);
  trace.Kernel("add", {6000, 6100, 7000, 8000});
  Analysed run(trace);
  const RunLanes lanes(run.tables());
  const TraceLanes* const traces[] = {lanes.traces().front().get()};
  const Lane& device = LaneOfKind(*traces[0], LaneKind::kDevice);
  const auto states = testing::SpansIn(lanes.Tile(traces, 4, 0), device.about.lane);
  int64_t computing = 0, communicating = 0, end = INT64_MIN;
  for (const testing::PlainSpan& state : states) {
    EXPECT_GE(state.start, end) << "states do not overlap";
    end = state.end;
    if (state.name == "compute") computing += state.busy;
    if (state.name == "communication") communicating += state.busy;
  }
  EXPECT_EQ(computing, 3000);
  EXPECT_EQ(communicating, 2000) << "where nothing computes";
  const Lane& idle = LaneOfKind(*traces[0], LaneKind::kIdle);
  int64_t waiting = 0;
  for (const testing::PlainSpan& gap : testing::SpansIn(lanes.Tile(traces, 4, 0), idle.about.lane)) waiting += gap.busy;
  int64_t of_states = 0;
  for (const testing::PlainSpan& state : states)
    if (state.name.starts_with("idle_")) of_states += state.busy;
  EXPECT_EQ(waiting, of_states);
  EXPECT_GT(waiting, 0);
}

TEST(RunLanes, ACounterKeepsLowestAndHighestOfWhatIsMerged) {
  HandMade trace;
  trace.Operator("aten::mm", 0, 100'000);
  for (int64_t i = 0; i < 1000; ++i) trace.Counter("power", i * 100, i == 500 ? 900.0 : static_cast<double>(i % 7));
  Analysed run(trace);
  const RunLanes lanes(run.tables());
  const TraceLanes* const traces[] = {lanes.traces().front().get()};
  const int64_t lane = LaneOfKind(*traces[0], LaneKind::kCounter).about.lane;
  for (const int level : {0, 6, 9, 12}) {
    double high = 0, low = 1e9;
    int64_t covered = 0;
    for (int64_t at = 0; at <= 100'000 / (int64_t{1024} << level); ++at) {
      const TimelineTile tile = lanes.Tile(traces, level, at);
      for (const TileLane& part : tile.lanes) {
        for (size_t i = 0; part.lane == lane && i < part.start.size(); ++i) {
          if (part.start[i] < tile.from_ns) continue;  // counted in the tile before
          high = std::max(high, part.high[i]), low = std::min(low, part.low[i]), covered += part.dur[i];
        }
      }
    }
    EXPECT_EQ(high, 900) << level;
    EXPECT_EQ(low, 0) << level;
    EXPECT_EQ(covered, 100'000) << level << ": from the first sample to the end of the recording";
  }
}

TEST(RunLanes, OnlyTilesThatAreTilesAre) {
  EXPECT_TRUE(RunLanes::IsTile(0, 0) && RunLanes::IsTile(kMaxLevel, 1) && RunLanes::IsTile(10, -1));
  EXPECT_FALSE(RunLanes::IsTile(-1, 0) || RunLanes::IsTile(kMaxLevel + 1, 0));
  EXPECT_FALSE(RunLanes::IsTile(kMaxLevel, INT64_MAX) || RunLanes::IsTile(0, INT64_MIN));
}

TEST(RunLanes, AnEmptyRunHasNoLanes) {
  const internal::Run run;
  Tables tables(run);
  const RunLanes lanes(tables);
  EXPECT_TRUE(lanes.Overview().traces.empty());
  EXPECT_TRUE(lanes.Tile({}, 10, 0).lanes.empty());
  EXPECT_TRUE(ExcerptOf(tables).tiles.empty());
}

TEST(SearchEvents, FindsNamesInAnyCaseAndByExpression) {
  HandMade trace;
  trace.Step(3, 0, 10'000).Operator("aten::MM", 100, 600).Kernel("sgemm_128", {200, 300, 400, 900});
  trace.Kernel("sgemm_64", {700, 710, 1000, 1100});
  Analysed run(trace);
  const RunLanes lanes(run.tables());
  const auto both = SearchEvents(lanes, "SGEMM", 500);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->total, 2);
  ASSERT_EQ(both->hits.size(), 2u);
  EXPECT_EQ(both->hits[0].name, "sgemm_128");
  EXPECT_EQ(both->hits[0].ts_ns, 400);
  EXPECT_EQ(both->hits[0].lane, LaneOfKind(*lanes.traces().front(), LaneKind::kStream).about.lane);
  EXPECT_EQ(SearchEvents(lanes, "re:sgemm_\\d{2}$", 500)->total, 1);
  EXPECT_EQ(SearchEvents(lanes, "aten::mm", 500)->hits.at(0).kind, "slice");
  const auto first = SearchEvents(lanes, "sgemm", 1);
  EXPECT_EQ(first->total, 2) << "all are counted, one is shown";
  EXPECT_EQ(first->hits.size(), 1u);
  const auto steps = SearchEvents(lanes, "ProfilerStep", 500);
  EXPECT_EQ(std::ranges::count(steps->hits, "step", &SearchHit::kind), 1);
  EXPECT_FALSE(SearchEvents(lanes, "re:(", 500)) << "no expression";
  EXPECT_EQ(SearchEvents(lanes, "", 500)->total, 0);
}

TEST(SumSelection, CountsThePartsInside) {
  HandMade trace;
  trace.Step(0, 0, 10'000)
      .Operator("aten::mm", 1000, 5000)
      .Call("cudaLaunchKernel", ApiKind::kKernelLaunch, 2000, 3000);
  trace.Unlaunched("mm", 1500, 2500).Unlaunched("mm", 4000, 9000);
  Analysed run(trace);
  const RunLanes lanes(run.tables());
  const SelectionSums sums = SumSelection(*lanes.traces().front(), {.from = 2000, .to = 5000});
  ASSERT_EQ(sums.tables.size(), 3u);
  const testing::TableByName ops(sums.tables[0].table);
  ASSERT_EQ(ops.rows(), 1u);
  EXPECT_EQ(ops.Int(0, "calls"), 2);
  EXPECT_EQ(ops.Int(0, "total_ns"), 500 + 1000);
  const testing::TableByName states(sums.tables[1].table), calls(sums.tables[2].table);
  EXPECT_EQ(testing::IntWhere(states, "state", "compute", "total_ns"), 1500);
  EXPECT_EQ(testing::IntWhere(calls, "name", "aten::mm", "total_ns"), 3000);
  EXPECT_EQ(testing::IntWhere(calls, "name", "aten::mm", "self_ns"), 2000);
  ASSERT_EQ(sums.flame.size(), 1u) << "one thread";
  const FlameNode& step = sums.flame[0].children.at(0);
  EXPECT_EQ(step.name, "ProfilerStep#0");
  EXPECT_EQ(step.total_ns, 3000);
  ASSERT_EQ(step.children.size(), 1u);
  EXPECT_EQ(step.children[0].name, "aten::mm");
  EXPECT_EQ(step.children[0].self_ns, 2000);
  EXPECT_EQ(step.children[0].children.at(0).total_ns, 1000);
}

TEST(ExcerptOf, FitsItsBudgetAndShowsTheSlowestStepFinest) {
  HandMade trace;
  trace.Step(0, 0, 40'000'000).Step(1, 40'000'000, 140'000'000);
  AddByChance(trace, 6, 20'000);
  Analysed run(trace);
  const TimelineExcerpt excerpt = ExcerptOf(run.tables(), 3000);
  size_t spans = 0;
  for (const TimelineTile& tile : excerpt.tiles)
    for (const TileLane& lane : tile.lanes) spans += lane.start.size();
  EXPECT_LE(spans, 3000u);
  ASSERT_GE(excerpt.tiles.size(), 2u);
  EXPECT_LE(excerpt.tiles.front().from_ns, 0);
  EXPECT_GE(excerpt.tiles.front().level, excerpt.tiles.back().level);
  for (const TimelineLane& lane : excerpt.overview.traces.at(0).lanes)
    EXPECT_EQ(lane.label.find("Python"), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal
