// SPDX-License-Identifier: Apache-2.0
// A small run, asked with SQL. Two ranks: each has one step, an operator that launches one kernel, and a copy.
#include "query/database.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "trace/builder.h"

namespace gapless::internal {
namespace {

using RowTexts = std::vector<std::string>;

bool Contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// RowTexts as texts, cells joined by '|', NULL as "NULL".
class Collect : public RowSink {
 public:
  void Columns(std::span<const std::string> names) override { columns.assign(names.begin(), names.end()); }
  bool Row(std::span<const SqlValue> cells) override {
    std::string row;
    for (const SqlValue& cell : cells) {
      if (!row.empty()) row += '|';
      switch (cell.kind) {
        case SqlValue::Kind::kNull: row += "NULL"; break;
        case SqlValue::Kind::kInt: row += StrCat(cell.integer); break;
        case SqlValue::Kind::kReal: row += StrCat(cell.real); break;
        case SqlValue::Kind::kText: row += cell.text; break;
      }
    }
    rows.push_back(row);
    return rows.size() < limit;
  }
  std::vector<std::string> columns, rows;
  size_t limit = 1000;
};

std::shared_ptr<const Trace> MakeTrace(int64_t rank, int64_t start_ns) {
  TraceBuilder builder;
  builder.info().path = StrCat("rank", rank, ".json");
  builder.info().format = "kineto";
  builder.info().rank = rank;
  builder.info().pid = 100 + rank;
  builder.info().start_unix_ns = start_ns;
  auto& shard = builder.NewShard();
  const int64_t pid = 100 + rank;
  shard.Add(StepRow{.number = 7, .name = shard.Text("ProfilerStep#7"), .ts_ns = start_ns, .dur_ns = 1000});
  shard.Add(SliceRow{.name = shard.Text("aten::mm"),
                     .category = SliceCategory::kOperator,
                     .pid = pid,
                     .tid = 1,
                     .ts_ns = start_ns,
                     .dur_ns = 100});
  shard.Add(SliceRow{.name = shard.Text("cudaLaunchKernel"),
                     .category = SliceCategory::kRuntime,
                     .api = ApiKind::kKernelLaunch,
                     .pid = pid,
                     .tid = 1,
                     .ts_ns = start_ns + 10,
                     .dur_ns = 20,
                     .correlation = 5});
  shard.Add(GpuOpRow{.name = shard.Text("gemm"),
                     .op_class = GpuOpClass::kGemm,
                     .stream = 7,
                     .ts_ns = start_ns + 50,
                     .dur_ns = 300,
                     .correlation = 5});
  shard.Add(GpuOpRow{.name = shard.Text("Memcpy HtoD"),
                     .kind = GpuOpKind::kMemcpy,
                     .op_class = GpuOpClass::kCopy,
                     .copy_kind = CopyKind::kHtoDPageable,
                     .stream = 7,
                     .ts_ns = start_ns + 400,
                     .dur_ns = 100,
                     .bytes = 4096});
  return std::make_shared<const Trace>(std::move(builder).Finish());
}

class DatabaseTest : public testing::Test {
 protected:
  std::vector<std::string> Ask(std::string_view sql) {
    Collect collect;
    const auto result = database.Query(sql, collect);
    EXPECT_TRUE(result) << result.error().ToString();
    return collect.rows;
  }
  Error Refused(std::string_view sql) {
    Collect collect;
    const auto result = database.Query(sql, collect);
    EXPECT_FALSE(result) << sql;
    return result ? Error{} : result.error();
  }

  gapless::internal::Run run{{MakeTrace(0, 1'000'000), MakeTrace(1, 1'000'500)}};
  Tables tables{run};
  Database database = Database::Open(run, tables).value();
};

TEST_F(DatabaseTest, IdsAreUniqueOverTheRunAndLeadFromTableToTable) {
  EXPECT_EQ(Ask("SELECT g.id, g.rank, g.name, s.name, o.name FROM gpu_op g JOIN slice s ON s.id = g.launch_id "
                "JOIN slice o ON o.id = g.op_id ORDER BY g.id"),
            (RowTexts{"0|0|gemm|cudaLaunchKernel|aten::mm", "2|1|gemm|cudaLaunchKernel|aten::mm"}));
}

TEST_F(DatabaseTest, TimesOfAllRanksAreOnOneAxis) {
  EXPECT_EQ(Ask("SELECT rank, min(ts_ns) FROM slice GROUP BY rank"), (RowTexts{"0|0", "1|500"}));
}

TEST_F(DatabaseTest, WhatWasNotRecordedIsNull) {
  EXPECT_EQ(Ask("SELECT bytes, grid_x, occupancy_pct, copy_kind FROM gpu_op WHERE rank = 0"),
            (RowTexts{"NULL|NULL|NULL|NULL", "4096|NULL|NULL|h2d_pageable"}));
}

TEST_F(DatabaseTest, EnumsAreTexts) {
  EXPECT_EQ(Ask("SELECT kind, class, count(*) FROM gpu_op GROUP BY 1, 2 ORDER BY 1"),
            (RowTexts{"kernel|gemm|2", "memcpy|copy|2"}));
}

TEST_F(DatabaseTest, StepsAreNamedByTheirNumber) {
  EXPECT_EQ(Ask("SELECT step, name, complete FROM step WHERE trace = 0"), (RowTexts{"7|ProfilerStep#7|1"}));
  EXPECT_EQ(Ask("SELECT DISTINCT step FROM gpu_op WHERE launch_id IS NOT NULL"), (RowTexts{"7"}));
}

// Constraints that are answered from the layout give the same rows as those that SQLite checks one by one.
TEST_F(DatabaseTest, ConstraintsOnIdTimeTraceAndRankAgreeWithAFullScan) {
  const std::vector<std::string> columns = {"id", "ts_ns", "trace", "rank"};
  const std::vector<std::string> operators = {"=", "<", "<=", ">", ">=", "IS"};
  const std::vector<std::string> values = {"-1",
                                           "0",
                                           "1",
                                           "2",
                                           "3",
                                           "10",
                                           "500",
                                           "510",
                                           "550",
                                           "560.5",
                                           "1.5",
                                           "'2'",
                                           "'x'",
                                           "NULL",
                                           "1e30",
                                           "-1e30",
                                           "9223372036854775807",
                                           "-9223372036854775808"};
  for (const auto& column : columns) {
    for (const auto& op : operators) {
      for (const auto& value : values) {
        const std::string start = "SELECT id FROM slice WHERE ";
        const auto fast = Ask(StrCat(start, column, " ", op, " ", value, " ORDER BY +id"));
        const auto slow = Ask(StrCat(start, "+", column, " ", op, " CAST(", value, " AS NUMERIC) ORDER BY +id"));
        if (value != "'x'") {
          EXPECT_EQ(fast, slow) << column << op << value;
        }
      }
    }
  }
}

TEST_F(DatabaseTest, AnIdIsFoundWithoutReadingTheTable) {
  EXPECT_EQ(Ask("SELECT name FROM gpu_op WHERE id = 3"), (RowTexts{"Memcpy HtoD"}));
  EXPECT_TRUE(Contains(Ask("EXPLAIN QUERY PLAN SELECT name FROM gpu_op WHERE id = 3")[0], "VIRTUAL TABLE INDEX 4:"));
}

TEST_F(DatabaseTest, RowsOfOneTraceComeInOrderOfTimeWithoutSorting) {
  for (const auto& step : Ask("EXPLAIN QUERY PLAN SELECT id FROM slice WHERE trace = 1 ORDER BY ts_ns")) {
    EXPECT_FALSE(Contains(step, "TEMP B-TREE")) << step;
  }
}

TEST_F(DatabaseTest, EveryTableHasItsTwinWithAllRows) {
  for (const SqlTable* table : AllSqlTables()) {
    EXPECT_EQ(Ask(StrCat("SELECT count(*) FROM all_", table->name)), Ask(StrCat("SELECT count(*) FROM ", table->name)));
  }
}

TEST_F(DatabaseTest, AnalysesAreTables) {
  for (const Analysis* analysis : AllAnalyses()) {
    EXPECT_EQ(Ask(StrCat("SELECT count(*) FROM ", analysis->name)),
              (RowTexts{StrCat(tables.Get(analysis->name).rows())}))
        << analysis->name;
  }
  EXPECT_EQ(Ask("SELECT rank, wall_ns - compute_ns - exposed_comm_ns - exposed_copy_ns - idle_ns FROM ledger "
                "WHERE step IS NULL ORDER BY rank"),
            (RowTexts{"0|0", "1|0"}));
}

TEST_F(DatabaseTest, NothingCanBeChanged) {
  for (const std::string_view sql :
       {"CREATE TABLE t(x)", "CREATE TEMP TABLE t(x)", "DELETE FROM slice", "UPDATE slice SET name = 'x'",
        "INSERT INTO slice(name) VALUES ('x')", "ATTACH 'x.db' AS x", "VACUUM INTO 'x.db'",
        "PRAGMA temp_store_directory = 'x'", "PRAGMA writable_schema = 1", "SELECT load_extension('x')",
        "DROP TABLE slice", "BEGIN"}) {
    EXPECT_EQ(Refused(sql).code, ErrorCode::kUsage) << sql;
  }
  EXPECT_TRUE(Contains(Refused("CREATE TABLE t(x)").hint, "SELECT"));
}

TEST_F(DatabaseTest, AMistypedNameIsAnsweredWithTheOneMeant) {
  EXPECT_TRUE(Contains(Refused("SELECT * FROM gpu_ops").hint, "did you mean gpu_op?"));
  EXPECT_TRUE(Contains(Refused("SELECT durns FROM slice").hint, "did you mean dur_ns? slice has id, trace"));
  EXPECT_EQ(Refused("SELECT name FRM slice").place, "SQL:character 17");
}

TEST_F(DatabaseTest, OneStatementAtATime) {
  EXPECT_TRUE(Contains(Refused("SELECT 1; SELECT 2").message, "more than one"));
  EXPECT_TRUE(Contains(Refused("-- nothing").message, "no SQL statement"));
  EXPECT_EQ(Ask("SELECT 1; -- and no more"), (RowTexts{"1"}));
}

TEST_F(DatabaseTest, ASinkCanEndTheQuery) {
  Collect collect;
  collect.limit = 1;
  EXPECT_TRUE(database.Query("SELECT id FROM slice", collect));
  EXPECT_EQ(collect.rows.size(), 1U);
}

TEST_F(DatabaseTest, ColumnsAreKnownWhenThereIsNoRow) {
  Collect collect;
  EXPECT_TRUE(database.Query("SELECT id, name FROM slice WHERE 0", collect));
  EXPECT_EQ(collect.columns, (RowTexts{"id", "name"}));
}

TEST_F(DatabaseTest, ARunningQueryCanBeInterrupted) {
  const std::atomic<bool> cancel{true};
  Database interrupted = Database::Open(run, tables, &cancel).value();
  Collect collect;
  const auto result = interrupted.Query(
      "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n", collect);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInterrupted);
}

// The same process recorded twice at the same time: the plain tables count it once, all_… shows both.
TEST(SeveralRecordingsTest, APlainTableCountsNothingTwice) {
  TraceBuilder smaller;
  smaller.info().path = "rank0.cupti";
  smaller.info().rank = 0;
  smaller.info().pid = 100;
  smaller.info().start_unix_ns = 1'000'000;
  auto& shard = smaller.NewShard();
  shard.Add(GpuOpRow{.name = shard.Text("gemm"), .stream = 7, .ts_ns = 1'000'050, .dur_ns = 300});
  const gapless::internal::Run run{
      {MakeTrace(0, 1'000'000), std::make_shared<const Trace>(std::move(smaller).Finish())}};
  Tables tables(run);
  Database database = Database::Open(run, tables).value();
  const auto ask = [&](std::string_view sql) {
    Collect collect;
    EXPECT_TRUE(database.Query(sql, collect));
    return collect.rows;
  };
  EXPECT_EQ(ask("SELECT count(*) FROM gpu_op"), (RowTexts{"2"}));
  EXPECT_EQ(ask("SELECT count(*) FROM all_gpu_op"), (RowTexts{"3"}));
  EXPECT_EQ(ask("SELECT count(*) FROM all_gpu_op WHERE name = 'gemm' AND kind = 'kernel'"), (RowTexts{"2"}));
  EXPECT_EQ(ask("SELECT role, path FROM all_trace ORDER BY role"),
            (RowTexts{"primary|rank0.json", "supplement|rank0.cupti"}));
  EXPECT_EQ(ask("SELECT count(DISTINCT process) FROM all_trace"), (RowTexts{"1"}));
  EXPECT_EQ(ask("SELECT path FROM trace"), (RowTexts{"rank0.json"}));
}

TEST(SqlTablesTest, EveryTableIsDescribed) {
  for (const SqlTableInfo& table : DescribeSqlTables()) {
    EXPECT_FALSE(table.help.empty()) << table.name;
    EXPECT_LE(table.help.size(), 100U) << table.name;
    ASSERT_FALSE(table.columns.empty()) << table.name;
    for (const ColumnSpec& column : table.columns) {
      EXPECT_FALSE(column.help.empty()) << table.name << "." << column.name;
      EXPECT_EQ(column.help.find('\n'), std::string_view::npos);
    }
  }
}

}  // namespace
}  // namespace gapless::internal
