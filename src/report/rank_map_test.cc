// SPDX-License-Identifier: Apache-2.0
// Tests the map of the ranks: which devices and steps it holds, and that its numbers are those of the ledger.
#include "report/rank_map.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

using testing::HandMade;
using MapJob = Run;  // inside a test, Run is the test's own method

// Two steps of 1 ms, in which a kernel runs for 400 µs; in the second one of `slow` for 800.
std::vector<std::shared_ptr<const Trace>> MapRanks(int64_t ranks, int64_t slow) {
  std::vector<std::shared_ptr<const Trace>> all;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    HandMade trace;
    trace.Rank(rank, ranks);
    for (int64_t step = 0; step < 2; ++step) {
      const int64_t at = step * kMs, dur = step == 1 && rank == slow ? 800 * kUs : 400 * kUs;
      trace.Step(step, at, at + kMs).Kernel("gemm", {at, at + 1, at, at + dur});
    }
    all.push_back(trace.Finish());
  }
  return all;
}

const RankMapColumn* MapColumn(const RankMap& map, std::string_view name) {
  for (const RankMapColumn& column : map.columns)
    if (column.name == name) return &column;
  return nullptr;
}

TEST(RankMap, AFewRanksAreDrawnFromTheirLedger) {
  const MapJob run(MapRanks(64, 3));
  Tables tables(run);
  EXPECT_TRUE(RankMapOf(tables).columns.empty());
}

TEST(RankMap, EveryCellIsOfTheLedger) {
  const MapJob run(MapRanks(65, 3));
  Tables tables(run);
  const RankMap map = RankMapOf(tables);
  EXPECT_EQ(map.ranks.size(), 65U);
  EXPECT_EQ(map.ranks[3], 3);
  EXPECT_EQ(map.steps, (std::vector<int64_t>{0, 1}));
  const RankMapColumn* compute = MapColumn(map, "compute_ns");
  ASSERT_NE(compute, nullptr);
  ASSERT_EQ(compute->cells.size(), 130U);
  const auto ns = [&](size_t device, size_t step) { return compute->cells[device * 2 + step] * compute->unit_ns; };
  EXPECT_NEAR(ns(3, 1), 800e3, 20);
  EXPECT_NEAR(ns(3, 0), 400e3, 20);
  EXPECT_NEAR(ns(64, 1), 400e3, 20);
  EXPECT_EQ(MapColumn(map, "idle_data_ns"), nullptr) << "0 everywhere";
}

TEST(RankMap, IsWrittenAsBase64OfLittleEndianNumbers) {
  RankMap map{.ranks = {0}, .devices = {0}, .host_of = {kAbsent}, .steps = {0}};
  map.columns.push_back({.name = "wall_ns", .unit_ns = 1, .cells = {0x4241, 0x0043}});
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  WriteRankMap(json, map);
  json.EndObject();
  EXPECT_NE(out.find("\"cells\": \"QUJDAA==\""), std::string::npos) << out;
  EXPECT_NE(out.find("\"host_of\": [null]"), std::string::npos) << out;
}

// 66 ranks: 33 pipelines of two stages, as the program names them.
TEST(RankMap, SaysWhereRanksStandInTheJob) {
  std::vector<std::shared_ptr<const Trace>> ranks;
  for (int64_t rank = 0; rank < 66; ++rank) {
    HandMade trace;
    trace.Rank(rank, 66).Environment("distributed.group.1", StrCat("mesh_pp: ", rank / 2 * 2, "-", rank / 2 * 2 + 1));
    trace.Step(0, 0, kMs).Kernel("gemm", {0, 1, 0, 400 * kUs});
    ranks.push_back(trace.Finish());
  }
  const MapJob run(std::move(ranks));
  Tables tables(run);
  const RankMap map = RankMapOf(tables);
  ASSERT_EQ(map.layout.size(), 1U) << "in all other dimensions no rank has a place";
  EXPECT_EQ(map.layout[0].name, "pipeline");
  EXPECT_EQ(map.layout[0].place[6], 0);
  EXPECT_EQ(map.layout[0].place[7], 1) << "the second stage";
  EXPECT_EQ(map.layout[0].group[6], map.layout[0].group[7]);
  EXPECT_NE(map.layout[0].group[7], map.layout[0].group[8]) << "the next pipeline";
}

}  // namespace
}  // namespace gapless::internal
