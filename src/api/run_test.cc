// SPDX-License-Identifier: Apache-2.0
// Opening runs and asking them, as a program that uses the library does.
#include "gapless/run.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace gapless {
namespace {

constexpr const char* kSample = "samples/resnet50_v100.pt.trace.json.gz";

OpenOptions NoCache() { return {.use_cache = false}; }

constexpr const char* kSmall = "tests/data/two_ranks";

Run OpenSmall() {
  Result<Run> run = gapless::Run::Open(kSmall, NoCache());
  EXPECT_TRUE(run) << run.error().ToString();
  return *std::move(run);
}

TEST(RunOpenTest, APathThatIsNotThereIsAnErrorWithItsName) {
  const auto run = gapless::Run::Open("tests/data/nosuch.json", NoCache());
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kInput);
  EXPECT_EQ(run.error().place, "tests/data/nosuch.json");
}

TEST(RunOpenTest, BrokenFilesAreErrorsNotExceptions) {
  for (const char* name : {"tests/data/empty.json", "tests/data/not_a_trace.json"})
    EXPECT_FALSE(gapless::Run::Open(name, NoCache())) << name;
}

TEST(RunOpenTest, PathsThatNoSystemTakesAreErrorsNotExceptions) {
  const std::string endless(10000, 'x');
  for (const std::string& path : {endless, "3=" + endless, std::string(), std::string("3="), std::string("a\0b", 3)})
    EXPECT_FALSE(gapless::Run::Open(path, NoCache()));
  EXPECT_FALSE(gapless::Run::Open(std::initializer_list<std::string>{}, NoCache()));
}

TEST(RunOpenTest, OneBrokenRankLeavesTheOthers) {
  const auto run = gapless::Run::Open("tests/data/broken_rank", NoCache());
  ASSERT_TRUE(run) << run.error().ToString();
  ASSERT_EQ(run->Failures().size(), 1U);
  EXPECT_NE(run->Failures()[0].place.find("rank1"), std::string::npos);
}

TEST(RunOpenTest, OnlyTheRanksAskedFor) {
  const auto run = gapless::Run::Open("tests/data/two_ranks", {.ranks = {1}, .use_cache = false});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->Summary().ranks, (std::vector<int64_t>{1}));
  EXPECT_FALSE(gapless::Run::Open("tests/data/two_ranks", {.ranks = {7}, .use_cache = false}));
}

TEST(RunOpenTest, SeveralPathsAreOneRun) {
  const auto run = gapless::Run::Open({"4=tests/data/cpu_only.json", "5=tests/data/two_ranks/rank0.json"}, NoCache());
  ASSERT_TRUE(run) << run.error().ToString();
  EXPECT_EQ(run->Query("SELECT count(*) AS n FROM all_trace")->At(0, "n").Int(), 2);
}

TEST(RunOpenTest, AWishToStopEndsIt) {
  std::stop_source stop;
  stop.request_stop();
  const auto run = gapless::Run::Open(kSample, {.use_cache = false, .cancel = stop.get_token()});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kInterrupted);
}

TEST(RunOpenTest, ProgressNamesWhatIsRead) {
  std::atomic<int> calls = 0;
  OpenOptions options = NoCache();
  options.progress = [&](const LoadProgress& progress) {
    if (progress.path == kSample && progress.bytes_done <= progress.bytes_total) ++calls;
  };
  ASSERT_TRUE(gapless::Run::Open(kSample, options));
  EXPECT_GT(calls.load(), 0);
}

TEST(RunTableTest, EveryTableThatIsListedIsThereWithTheColumnsListed) {
  const auto run = OpenSmall();
  size_t analyses = 0;
  for (const TableInfo& info : gapless::Run::Tables()) {
    const auto table = run.Table(info.name);
    ASSERT_TRUE(table) << info.name << ": " << table.error().ToString();
    EXPECT_EQ(table->name(), info.name);
    ASSERT_EQ(table->columns().size(), info.columns.size()) << info.name;
    for (size_t i = 0; i < info.columns.size(); ++i) {
      EXPECT_EQ(table->columns()[i].name, info.columns[i].name);
      EXPECT_FALSE(info.columns[i].help.empty()) << info.name << '.' << info.columns[i].name;
    }
    analyses += info.is_analysis;
  }
  EXPECT_GT(analyses, 10U);
}

// SQL and direct access are two ways to the same cells.
TEST(RunTableTest, EveryTableHoldsWhatSqlSays) {
  for (const char* path : {kSample, kSmall}) {
    const auto run = gapless::Run::Open(path, NoCache());
    ASSERT_TRUE(run);
    for (const TableInfo& info : gapless::Run::Tables()) {
      const auto direct = run->Table(info.name);
      const auto by_sql = run->Query("SELECT * FROM \"" + info.name + "\"");
      ASSERT_TRUE(direct && by_sql) << info.name;
      ASSERT_EQ(direct->rows(), by_sql->rows()) << info.name;
      const size_t step = direct->rows() / 500 + 1;
      for (size_t row = 0; row < direct->rows(); row += step)
        for (size_t column = 0; column < info.columns.size(); ++column)
          ASSERT_EQ(direct->At(row, column), by_sql->At(row, column))
              << info.name << '.' << info.columns[column].name << " row " << row;
    }
  }
}

TEST(RunTableTest, AllBeforeANameShowsSupplementsToo) {
  const auto run = gapless::Run::Open({"tests/data/two_ranks/rank0.json", "tests/data/cpu_only.json"}, NoCache());
  ASSERT_TRUE(run);
  const auto primary = run->Table("trace"), every = run->Table("all_trace");
  ASSERT_TRUE(primary && every);
  EXPECT_EQ(every->name(), "all_trace");
  EXPECT_EQ(every->rows(), 2U);
  EXPECT_LT(primary->rows(), every->rows());
}

TEST(RunTableTest, AnUnknownTableNamesTheOneMeant) {
  const auto run = OpenSmall();
  const auto table = run.Table("gpu_opp");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, ErrorCode::kUsage);
  EXPECT_EQ(table.error().message, "there is no table 'gpu_opp'");
  EXPECT_EQ(table.error().hint, "did you mean gpu_op?");
  EXPECT_FALSE(run.Table(""));
  EXPECT_FALSE(run.Table("all_"));
  EXPECT_FALSE(run.Table("all_idle"));  // an analysis has no other rows
}

TEST(RunTableTest, ATableOutlivesItsRun) {
  Table recorded, analysis, result;
  {
    const auto run = OpenSmall();
    recorded = *run.Table("gpu_op");
    analysis = *run.Table("idle");
    result = *run.Query("SELECT name FROM gpu_op");
  }
  EXPECT_TRUE(recorded.At(0, "name").Text());
  EXPECT_TRUE(analysis.At(0, "dur_ns").Int());
  EXPECT_EQ(result.At(7, "name"), recorded.At(7, "name"));
}

TEST(RunQueryTest, AFaultInTheStatementSaysWhereAndWhatWasMeant) {
  const auto run = OpenSmall();
  const auto result = run.Query("SELECT duration_ns FROM gpu_op");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kUsage);
  EXPECT_TRUE(result.error().hint.starts_with("gpu_op has id, ")) << result.error().hint;
  EXPECT_FALSE(run.Query("DROP TABLE gpu_op"));
  EXPECT_FALSE(run.Query(""));
  EXPECT_TRUE(run.Query("SELECT 1")) << "an error leaves the run usable";
}

TEST(RunQueryTest, ColumnsTakeTheNarrowestTypeThatFits) {
  const auto result =
      OpenSmall().Query("SELECT 1 AS i, 2 AS mixed, 'a' AS t, NULL AS n UNION ALL SELECT NULL, 0.5, 'b', NULL");
  ASSERT_TRUE(result);
  std::vector<ColumnType> types;
  for (const Column& column : result->columns()) types.push_back(column.type);
  EXPECT_EQ(types, (std::vector{ColumnType::kInt, ColumnType::kReal, ColumnType::kText, ColumnType::kInt}));
  EXPECT_EQ(result->At(0, "mixed").Int(), 2);
  EXPECT_EQ(result->At(1, "mixed").Real(), 0.5);
  EXPECT_FALSE(result->At(1, "i").has_value());
}

TEST(RunQueryTest, AResultWithoutRowsHasItsColumns) {
  const auto result = OpenSmall().Query("SELECT name, dur_ns FROM gpu_op WHERE dur_ns < 0");
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->empty());
  EXPECT_EQ(result->columns().size(), 2U);
}

TEST(RunQueryTest, AVisitorTakesRowsUntilItHasEnough) {
  const auto run = OpenSmall();
  int64_t seen = 0;
  const auto done = run.Query("SELECT id FROM gpu_op ORDER BY id",
                              [&](std::span<const std::string> columns, std::span<const Cell> cells) {
                                EXPECT_EQ(columns[0], "id");
                                EXPECT_EQ(cells[0].Int(), seen);
                                return ++seen < 3;
                              });
  EXPECT_TRUE(done);
  EXPECT_EQ(seen, 3);
}

TEST(RunQueryTest, AVisitorMayAskTheSameRunAndMayThrow) {
  const auto run = OpenSmall();
  const auto asks = [&](std::span<const std::string>, std::span<const Cell>) {
    return run.Query("SELECT 1").has_value();
  };
  EXPECT_TRUE(run.Query("SELECT id FROM gpu_op LIMIT 2", asks));
  const auto throws = [](std::span<const std::string>, std::span<const Cell>) -> bool { throw 7; };
  EXPECT_THROW((void)run.Query("SELECT id FROM gpu_op", throws), int);
  EXPECT_TRUE(run.Query("SELECT 1"));
}

TEST(RunQueryTest, NoVisitorIsAnErrorNotAnException) {
  EXPECT_EQ(OpenSmall().Query("SELECT 1", RowVisitor()).error().code, ErrorCode::kUsage);
}

TEST(RunQueryTest, AWishToStopEndsARunningStatement) {
  std::stop_source stop;
  const auto run = gapless::Run::Open(kSmall, {.use_cache = false, .cancel = stop.get_token()});
  ASSERT_TRUE(run);
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop.request_stop();
  });
  const auto endless =
      run->Query("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n");
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().code, ErrorCode::kInterrupted);
}

TEST(RunThreadsTest, AnyNumberOfThreadsGivesTheSameAnswer) {
  const auto one = gapless::Run::Open(kSmall, {.use_cache = false, .threads = 1});
  const auto many = gapless::Run::Open(kSmall, {.use_cache = false, .threads = size_t{1} << 60});
  ASSERT_TRUE(one && many);
  EXPECT_EQ(*one->Render("json"), *many->Render("json"));
}

TEST(RunThreadsTest, SeveralThreadsMayAskOneRun) {
  const auto run = OpenSmall();
  const size_t expected = OpenSmall().Diagnose().size();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([run, expected, i] {
      EXPECT_EQ(run.Diagnose().size(), expected);
      const auto count = run.Query("SELECT count(*) AS n FROM gpu_op");
      ASSERT_TRUE(count);
      EXPECT_EQ(count->At(0, "n").Int(), static_cast<int64_t>(run.Table("gpu_op")->rows()));
      const auto tables = gapless::Run::Tables();
      for (size_t k = 0; k < tables.size(); ++k)  // each begins elsewhere
        EXPECT_TRUE(run.Table(tables[(k + static_cast<size_t>(i) * 7) % tables.size()].name));
      EXPECT_TRUE(run.Render("json"));
    });
}

}  // namespace
}  // namespace gapless
