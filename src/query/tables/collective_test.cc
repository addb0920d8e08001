// SPDX-License-Identifier: Apache-2.0
// The number by which the same collective is known on all ranks.
#include <gtest/gtest.h>

#include <algorithm>

#include "query/sql_table.h"
#include "trace/builder.h"

namespace gapless::internal {
namespace {

using Job = Run;  // a test has a member called Run

// Collectives of these sizes, 1 µs long, one every 10 µs.
std::shared_ptr<const Trace> Rank(int64_t rank, const std::vector<int64_t>& bytes, std::string_view group = "0") {
  TraceBuilder builder;
  builder.info().rank = rank;
  TraceBuilder::Shard& shard = builder.NewShard();
  int64_t at = 0;
  for (const int64_t each : bytes)
    shard.Add(CollectiveRow{.name = shard.Text("nccl"),
                            .kind = shard.Text("all_reduce"),
                            .group = shard.Text(group),
                            .device = 0,
                            .ts_ns = at += 10'000,
                            .dur_ns = 1'000,
                            .bytes = each});
  return std::make_shared<const Trace>(std::move(builder).Finish());
}

std::vector<SqlValue> MatchIds(const Run& run, size_t trace) {
  const auto& tables = AllSqlTables();
  const SqlTable& table = **std::find_if(tables.begin(), tables.end(),
                                         [](const SqlTable* sql_table) { return sql_table->name == "collective"; });
  const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                   [](const SqlColumn& sql_column) { return sql_column.name == "match_id"; });
  std::vector<SqlValue> ids;
  for (size_t row = 0; row < run.traces()[trace].trace->collectives.size(); ++row)
    ids.push_back(column->get({.run = &run, .trace = &run.traces()[trace], .row = row}));
  return ids;
}

TEST(MatchId, IsTheSameOnAllRanksWhicheverTheirRecordingsBeginWith) {
  const Job run({Rank(0, {100, 200, 300}), Rank(1, {200, 300, 400})});
  const auto zero = MatchIds(run, 0), one = MatchIds(run, 1);
  EXPECT_EQ(zero[1].integer, one[0].integer);
  EXPECT_EQ(zero[2].integer, one[1].integer);
  EXPECT_NE(zero[0].integer, one[0].integer);
  EXPECT_NE(one[2].integer, zero[2].integer);
}

TEST(MatchId, IsOfTheRunThatIsAsked) {
  const auto rank0 = Rank(0, {100, 200, 300});
  const Job alone({rank0}), both({rank0, Rank(1, {50, 100, 200})});
  const int64_t before = MatchIds(alone, 0)[0].integer;
  EXPECT_NE(MatchIds(both, 0)[0].integer, before) << "rank 1 has one that came before";
  EXPECT_EQ(MatchIds(both, 0)[0].integer, MatchIds(both, 1)[1].integer);
  EXPECT_EQ(MatchIds(alone, 0)[0].integer, before);
}

TEST(MatchId, WithoutAGroupNeedsAnotherRank) {
  const Job alone({Rank(0, {100, 200}, "")}), both({Rank(0, {100, 200}, ""), Rank(1, {100, 200}, "")});
  EXPECT_EQ(MatchIds(alone, 0)[0].kind, SqlValue::Kind::kNull);
  EXPECT_EQ(MatchIds(both, 0)[0].kind, SqlValue::Kind::kInt);
}

}  // namespace
}  // namespace gapless::internal
