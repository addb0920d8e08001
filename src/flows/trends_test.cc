// SPDX-License-Identifier: Apache-2.0
// A history gives each of its series on its own, those without a name or a branch, too.
#include "flows/trends.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <tuple>

#include "base/strings.h"

namespace gapless::internal {
namespace {

class TrendsTest : public ::testing::Test {
 protected:
  TrendsTest() {
    folder_ = ::testing::TempDir() + StrCat("trends-", ::getpid());
    std::filesystem::create_directories(folder_);
    db_ = StrCat("sqlite:", folder_, "/history.db");
  }
  ~TrendsTest() override { std::filesystem::remove_all(folder_); }

  // Each run is a second after the one before.
  void Record(const std::string& branch, const std::string& benchmark, double value) {
    auto history = History::Open(db_);
    ASSERT_TRUE(history);
    BenchmarkRecord record;
    record.uid = NewUid();
    record.recorded_unix_ns = ++runs_ * 1'000'000'000;
    record.branch = branch, record.benchmark = benchmark;
    record.metrics.push_back({.name = "step_time_ms", .value = value});
    ASSERT_TRUE(history->Record(record));
  }

  TrendReport TrendOn(const std::string& branch, const std::string& benchmark) const {
    TrendQuery query{.db = db_};
    query.filter.branch = branch;
    query.filter.benchmark = benchmark;
    auto report = TrendOfHistory(query);
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : TrendReport{};
  }

  std::string folder_, db_;
  int64_t runs_ = 0;
};

TEST_F(TrendsTest, SeriesAreListedTheNewestFirst) {
  Record("main", "resnet", 10);
  Record("", "", 20);
  Record("main", "resnet", 11);
  const auto list = SeriesOfHistory(db_);
  ASSERT_TRUE(list);
  ASSERT_EQ(list->series.size(), 2U);
  EXPECT_EQ(list->series[0].benchmark, "resnet");
  EXPECT_EQ(list->series[0].runs, 2);
  EXPECT_EQ(list->series[0].newest_unix_ns, 3'000'000'000);
  EXPECT_EQ(list->series[0].metrics, std::vector<std::string>{"step_time_ms"});
  EXPECT_EQ(list->series[1].branch, "");
}

TEST_F(TrendsTest, WhatHasNoNameIsASeriesOfItsOwn) {
  Record("", "", 20);
  Record("", "named", 30);
  Record("main", "", 40);
  Record("main", "resnet", 50);
  for (const auto& [branch, benchmark, value] :
       {std::tuple("", "", 20.0), std::tuple("", "named", 30.0), std::tuple("main", "", 40.0)}) {
    const TrendReport report = TrendOn(branch, benchmark);
    ASSERT_EQ(report.trends.size(), 1U) << branch << " " << benchmark;
    ASSERT_EQ(report.trends[0].points.size(), 1U);
    EXPECT_EQ(report.trends[0].points[0].value, value);
    EXPECT_EQ(report.branch, branch);
  }
}

TEST_F(TrendsTest, AHistoryThatIsNotThereIsNoneAndIsNotMade) {
  EXPECT_FALSE(IsHistory(db_));
  EXPECT_FALSE(SeriesOfHistory(db_));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/history.db"));
  Record("main", "resnet", 10);
  EXPECT_TRUE(IsHistory(db_));
}

}  // namespace
}  // namespace gapless::internal
