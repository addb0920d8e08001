// SPDX-License-Identifier: Apache-2.0
// Runs the same suite on every database.
#include "store/history.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "base/strings.h"
#include "store/migrations.h"
#include "store/rows.h"
#include "store/testing/server.h"

namespace gapless::internal {
namespace {

constexpr int64_t kDayNs = int64_t{86'400} * 1'000'000'000;

// Returns one server for all tests of this program; null without a server.
testing::PostgresServer* Server(std::string* why = nullptr) {
  static std::string reason;
  static const std::unique_ptr<testing::PostgresServer> server = testing::PostgresServer::Start(reason);
  if (why != nullptr) *why = reason;
  return server.get();
}

class HistoryTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "postgres") {
      std::string why;
      if (Server(&why) == nullptr) GTEST_SKIP() << why;
      url_ = Server()->NewDatabase();
      return;
    }
    std::string pattern = (std::filesystem::temp_directory_path() / "gapless-history-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    url_ = "sqlite:" + folder_ + "/deep/history.db";
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  History Open() {
    auto history = History::Open(url_);
    EXPECT_TRUE(history) << history.error().ToString();
    return std::move(*history);
  }
  std::unique_ptr<Connection> Raw() {
    for (const Backend* backend : AllBackends())
      for (const std::string_view prefix : backend->prefixes)
        if (url_.starts_with(prefix)) {
          if (!folder_.empty()) std::filesystem::create_directories(folder_ + "/deep");
          auto connection = backend->open(url_, Access::kCreate);
          EXPECT_TRUE(connection) << connection.error().ToString();
          return std::move(*connection);
        }
    return nullptr;
  }

  std::string url_, folder_;
};

BenchmarkRecord Full() {
  BenchmarkRecord r;
  r.recorded_unix_ns = 1'700'000'000'123'456'789;
  r.commit_sha = "0123456789abcdef";
  r.branch = "main";
  r.dirty = false;
  r.author_unix_ns = 1'699'999'999'000'000'000;
  r.benchmark = "resnet50";
  r.command = "python train.py --name 'it''s' \"quoted\"";
  r.host = "node-1";
  r.fingerprint = "f00d";
  r.gpu_type = "NVIDIA H100";
  r.num_gpus = 8;
  r.batch_size = 256;
  r.framework = "torch 2.4";
  r.driver = "550.54";
  r.environment = R"({"CUDA_VISIBLE_DEVICES": "0", "é": 1.50})";
  r.source = "gapless";
  r.metrics = {{"samples_per_second", 1234.5, "1/s", true, Sampling::kProcess, {1230.25, 1238.75}},
               {"step_time_ms", 0.1 + 0.2, "ms", false, Sampling::kIteration, {-0.0, 5e-324, 1.7976931348623157e308}},
               {"loss", -3.25, "", std::nullopt, Sampling::kUnknown, {}}};
  r.verdicts = {{1'700'000'000'500'000'000, "step_time_ms", "pending", R"({"delta": 0.07})"}};
  return r;
}

TEST_P(HistoryTest, WhatIsRecordedIsReadBackEqual) {
  History history = Open();
  BenchmarkRecord given = Full();
  given.uid = "a-uid";
  const auto recorded = history.Record(given);
  ASSERT_TRUE(recorded) << recorded.error().ToString();
  EXPECT_TRUE(recorded->added);
  given.id = recorded->id;
  const auto records = Open().List({});
  ASSERT_TRUE(records) << records.error().ToString();
  ASSERT_EQ(records->size(), 1U);
  EXPECT_EQ(records->front(), given);
  EXPECT_TRUE(std::signbit(records->front().metrics[1].samples[0]));
}

TEST_P(HistoryTest, AbsentStaysNull) {
  History history = Open();
  BenchmarkRecord empty;
  empty.metrics = {{"gpu_utilization", 0, "", std::nullopt, Sampling::kUnknown, {}}};
  ASSERT_TRUE(history.Record(empty));
  const auto records = history.List({});
  ASSERT_TRUE(records);
  const BenchmarkRecord& read = records->front();
  EXPECT_FALSE(read.dirty || read.num_gpus || read.batch_size || read.author_unix_ns);
  EXPECT_EQ(read.branch, "");
  EXPECT_FALSE(read.metrics[0].higher_is_better);
  const auto row = Raw()->Run("SELECT * FROM benchmarks", {});
  ASSERT_TRUE(row);
  const std::vector<SqlCell>& cells = row->front().cells();
  ASSERT_EQ(cells.size(), 11U);
  for (const size_t absent : {2, 3, 4, 6, 7, 8, 9, 10})
    EXPECT_TRUE(std::holds_alternative<std::monostate>(cells[absent])) << absent;
  EXPECT_EQ(row->front().Real(5), 0.0) << "a zero that was measured is no NULL";
  const auto null = Raw()->Run("SELECT 1 FROM run WHERE host IS NULL AND environment IS NULL", {});
  EXPECT_EQ(null->size(), 1U);
}

TEST_P(HistoryTest, TheViewHasTheColumnsThatWereAskedFor) {
  History history = Open();
  ASSERT_TRUE(history.Record(Full()));
  const auto rows = Raw()->Run(
      "SELECT id, timestamp, commit_sha, branch, samples_per_second, gpu_utilization, memory_usage_gb, step_time_ms, "
      "gpu_type, num_gpus, batch_size FROM benchmarks",
      {});
  ASSERT_TRUE(rows) << rows.error().ToString();
  EXPECT_EQ(rows->front().Text(1).substr(0, 4), "2023");
  EXPECT_NE(rows->front().Text(1).find("22:13:20.123"), std::string::npos) << rows->front().Text(1);
  EXPECT_EQ(rows->front().Text(2), "0123456789abcdef");
  EXPECT_EQ(rows->front().Real(4), 1234.5);
  EXPECT_FALSE(rows->front().Real(5));
  EXPECT_EQ(rows->front().Real(7), 0.1 + 0.2);
  EXPECT_EQ(rows->front().Int(9), 8);
}

TEST_P(HistoryTest, RecordsAreFoundByBranchBenchmarkCommitTimeAndLimit) {
  History history = Open();
  std::vector<BenchmarkRecord> all;
  for (int day = 9; day >= 0; --day) {  // the newest first: the order of reading is that of time
    BenchmarkRecord r;
    r.recorded_unix_ns = day * kDayNs;
    r.branch = day % 2 == 0 ? "main" : "wip";
    r.benchmark = day < 5 ? "a" : "b";
    r.commit_sha = StrCat("c", day);
    all.push_back(r);
  }
  ASSERT_TRUE(history.RecordAll(all));
  const auto commits = [&](const HistoryFilter& filter) {
    std::string out;
    const auto records = history.List(filter);
    EXPECT_TRUE(records) << records.error().ToString();
    for (const BenchmarkRecord& record : *records) out += record.commit_sha;
    return out;
  };
  EXPECT_EQ(commits({}), "c0c1c2c3c4c5c6c7c8c9");
  EXPECT_EQ(commits({.branch = "main"}), "c0c2c4c6c8");
  EXPECT_EQ(commits({.branch = "main", .benchmark = "b"}), "c6c8");
  EXPECT_EQ(commits({.commit_sha = "c7"}), "c7");
  EXPECT_EQ(commits({.since_unix_ns = 2 * kDayNs, .until_unix_ns = 4 * kDayNs}), "c2c3c4");
  EXPECT_EQ(commits({.limit = 3}), "c7c8c9");
  EXPECT_EQ(commits({.branch = "main", .limit = 2}), "c6c8");
  EXPECT_EQ(commits({.limit = 100}), "c0c1c2c3c4c5c6c7c8c9");
  EXPECT_EQ(commits({.limit = 0}), "");
  EXPECT_EQ(commits({.branch = "' OR 1=1 --"}), "");
}

TEST_P(HistoryTest, ManyRecordsComeInPagesAndInOrder) {
  History history = Open();
  std::vector<BenchmarkRecord> all(1001);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].recorded_unix_ns = static_cast<int64_t>(i / 7);  // many at the same time
    all[i].metrics = {{"x", static_cast<double>(i), "", {}, Sampling::kProcess, {1.0 * static_cast<double>(i)}}};
  }
  ASSERT_TRUE(history.RecordAll(all));
  const auto records = history.List({});
  ASSERT_EQ(records->size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ((*records)[i].metrics[0].value, static_cast<double>(i));
    EXPECT_EQ((*records)[i].metrics[0].samples, std::vector<double>{static_cast<double>(i)});
  }
  const auto bare = history.List({.with_samples = false});
  EXPECT_TRUE(bare->back().metrics[0].samples.empty());
}

TEST_P(HistoryTest, TheSameUidIsRecordedOnce) {
  History history = Open();
  BenchmarkRecord first = Full();
  first.uid = "u";
  const auto one = history.Record(first), two = history.Record(first);
  ASSERT_TRUE(one && two);
  EXPECT_TRUE(one->added);
  EXPECT_FALSE(two->added);
  EXPECT_EQ(one->id, two->id);
  EXPECT_EQ(history.List({})->size(), 1U);
  EXPECT_EQ(history.List({})->front().verdicts.size(), 1U);
}

TEST_P(HistoryTest, VerdictsAreAddedAndKept) {
  History history = Open();
  const auto recorded = history.Record({});
  ASSERT_TRUE(history.AddVerdict(recorded->id, {1, "step_time_ms", "pending", "{}"}));
  ASSERT_TRUE(history.AddVerdict(recorded->id, {2, "step_time_ms", "confirmed", ""}));
  ASSERT_TRUE(history.AddVerdict(recorded->id, {2, "step_time_ms", "confirmed", ""}));
  const auto records = history.List({});
  ASSERT_EQ(records->front().verdicts.size(), 2U);
  EXPECT_EQ(records->front().verdicts[1].kind, "confirmed");
  const auto missing = history.AddVerdict(recorded->id + 99, {1, "", "pending", ""});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kInput);
}

TEST_P(HistoryTest, HostileTextsAreKeptAndNothingElse) {
  History history = Open();
  BenchmarkRecord r;
  r.branch = "'; DROP TABLE run; --";
  r.benchmark = "\"quoted\" $1 ?1 {id}";
  r.command = std::string(1'000'000, 'x') + "'";
  r.host = std::string("zero\0byte", 9);
  r.gpu_type = "not \xff\xfe utf-8";
  r.metrics = {{"it's a \"name\"; \n", 1, "µ\"s", true, Sampling::kProcess, {}}};
  ASSERT_TRUE(history.Record(r));
  const auto records = history.List({.branch = r.branch});
  ASSERT_TRUE(records) << records.error().ToString();
  ASSERT_EQ(records->size(), 1U);
  const BenchmarkRecord& read = records->front();
  EXPECT_EQ(read.benchmark, r.benchmark);
  EXPECT_EQ(read.command, r.command);
  EXPECT_EQ(read.host,
            "zero\xEF\xBF\xBD"
            "byte");
  EXPECT_EQ(read.gpu_type, "not \xEF\xBF\xBD\xEF\xBF\xBD utf-8");
  EXPECT_EQ(read.metrics, r.metrics);
}

TEST_P(HistoryTest, WhatIsNoMeasurementIsRefusedAndNothingIsWritten) {
  History history = Open();
  const auto refused = [&](std::vector<MetricRecord> metrics, std::string_view why) {
    BenchmarkRecord good, bad;
    bad.metrics = std::move(metrics);
    const BenchmarkRecord both[] = {good, bad};
    const auto recorded = history.RecordAll(both);
    ASSERT_FALSE(recorded);
    EXPECT_EQ(recorded.error().code, ErrorCode::kInput);
    EXPECT_NE(recorded.error().message.find(why), std::string::npos) << recorded.error().message;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto metric = [](const std::string& name, double value) { return MetricRecord{name, value, "", {}, {}, {}}; };
  refused({metric("x", nan)}, "not a number");
  refused({metric("x", HUGE_VAL)}, "not a number");
  refused({{"x", 1, "", {}, {}, {1, nan}}}, "not a number");
  refused({metric("x", 1), metric("x", 2)}, "twice");
  refused({metric("", 1)}, "without a name");
  refused({metric(std::string(1'000'000, 'n'), 1)}, "too long");
  EXPECT_TRUE(history.List({})->empty());
}

TEST_P(HistoryTest, TestedAdviceIsKept) {
  History history = Open();
  const AdviceRecord amp{
      .uid = "one", .what = "amp=bf16", .kind = "amp", .measured = 0.6, .low = 0.4, .expected = 0.5, .high = 0.7};
  ASSERT_TRUE(history.RecordAdvice(amp));
  ASSERT_TRUE(history.RecordAdvice(amp)) << "again: it is there";
  ASSERT_TRUE(history.RecordAdvice({.what = "pin", .kind = "pin"}));
  const auto all = history.ListAdvice();
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ(all->front().what, "amp=bf16");
  EXPECT_EQ(all->front().measured, 0.6);
  EXPECT_EQ(all->back().kind, "pin");
  EXPECT_NE(all->back().uid, "");
  EXPECT_FALSE(history.RecordAdvice({.what = "x", .kind = "x", .measured = 0}));
  EXPECT_FALSE(history.RecordAdvice({.what = "x", .kind = "x", .high = HUGE_VAL}));
  EXPECT_FALSE(history.RecordAdvice({.what = "", .kind = "x"}));
  EXPECT_EQ(history.ListAdvice()->size(), 2U);
}

TEST_P(HistoryTest, LookingAtAdviceChangesNothing) {
  {
    const auto connection = Raw();
    ASSERT_TRUE(Migrate(*connection, 2));
  }
  EXPECT_EQ(History::ReadAdvice(url_)->size(), 0U) << "of a history from before there was advice";
  EXPECT_EQ(SchemaVersion(*Raw()).value(), 2);
  ASSERT_TRUE(Open().RecordAdvice({.what = "pin", .kind = "pin"}));
  EXPECT_EQ(History::ReadAdvice(url_)->size(), 1U);
}

TEST(History, LookingAtAdviceMakesNoHistory) {
  const std::string path = ::testing::TempDir() + "gapless-no-history.db";
  std::filesystem::remove(path);  // left by a run in which this test failed
  EXPECT_EQ(History::ReadAdvice(path)->size(), 0U);
  EXPECT_EQ(History::ReadAdvice("sqlite:" + path)->size(), 0U);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(History, ReadingMakesNoHistory) {
  const std::string folder = StrCat(::testing::TempDir(), "gapless-absent-", ::getpid()), url = folder + "/h.db";
  for (const std::string& name : {url, "sqlite:" + url, "sqlite://" + url}) {
    for (const auto& history : {History::OpenToRead(name), History::OpenToChange(name)}) {
      ASSERT_FALSE(history);
      EXPECT_EQ(history.error().code, ErrorCode::kInput);
      EXPECT_NE(history.error().message.find(url), std::string::npos);
    }
    auto empty = History::OpenToRead(name, History::IfAbsent::kEmpty);
    ASSERT_TRUE(empty);
    EXPECT_TRUE(empty->is_absent());
    EXPECT_TRUE(empty->List({})->empty());
    EXPECT_TRUE(empty->ListAdvice()->empty());
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(History, ReadingLeavesAFileOfAnotherKindAsItIs) {
  const std::string path = StrCat(::testing::TempDir(), "gapless-empty-", ::getpid(), ".db");
  { const std::ofstream file(path); }
  EXPECT_FALSE(History::OpenToRead("sqlite:" + path));
  EXPECT_EQ(std::filesystem::file_size(path), 0U);
  std::filesystem::remove(path);
}

TEST_P(HistoryTest, ReadingFindsWhatWasRecorded) {
  ASSERT_TRUE(Open().Record(Full()));
  auto history = History::OpenToRead(url_);
  ASSERT_TRUE(history) << history.error().ToString();
  EXPECT_EQ(history->List({})->size(), 1U);
  EXPECT_TRUE(History::OpenToChange(url_)->AddVerdict(
      1, {.recorded_unix_ns = 1, .metric = {}, .kind = "accepted", .detail = {}}));
}

TEST_P(HistoryTest, AnOlderSchemaIsBroughtUpToDateStepByStep) {
  const auto newest = static_cast<int64_t>(AllMigrations().size());
  const auto connection = Raw();
  ASSERT_TRUE(Migrate(*connection, 1));
  EXPECT_EQ(*SchemaVersion(*connection), 1);
  ASSERT_TRUE(connection->Run("INSERT INTO run (uid, recorded_at_ns, branch) VALUES ('old', 5, 'main')", {}));
  ASSERT_TRUE(connection->Run("INSERT INTO metric (run, ordinal, name, value) VALUES (1, 0, 'step_time_ms', 2.5)", {}));
  for (int64_t version = 2; version <= newest; ++version) {
    ASSERT_TRUE(Migrate(*connection, version));
    EXPECT_EQ(*SchemaVersion(*connection), version);
  }
  History history = Open();
  ASSERT_TRUE(history.Record(Full()));
  const auto records = history.List({});
  ASSERT_EQ(records->size(), 2U);
  EXPECT_EQ(records->front().uid, "old");
  EXPECT_EQ(records->front().metrics[0].value, 2.5);
}

TEST_P(HistoryTest, OpeningBringsAnOldSchemaUpToDateAtOnce) {
  ASSERT_TRUE(Migrate(*Raw(), 1));
  ASSERT_TRUE(Open().Record(Full()));
  EXPECT_EQ(*SchemaVersion(*Raw()), static_cast<int64_t>(AllMigrations().size()));
}

TEST_P(HistoryTest, ASchemaFromTheFutureIsRefusedAndLeftAlone) {
  { (void)Open(); }
  const auto connection = Raw();
  ASSERT_TRUE(connection->Run("INSERT INTO gapless_schema VALUES (999, 0, '9.9')", {}));
  const auto history = History::Open(url_);
  ASSERT_FALSE(history);
  EXPECT_EQ(history.error().code, ErrorCode::kEnvironment);
  EXPECT_NE(history.error().message.find("999"), std::string::npos);
  EXPECT_NE(history.error().hint.find("update gapless"), std::string::npos);
}

TEST_P(HistoryTest, AMigrationThatFailsLeavesNothingBehind) {
  const auto connection = Raw();
  ASSERT_TRUE(connection->Run("CREATE TABLE metric (mine TEXT)", {}));  // a table of another program
  ASSERT_FALSE(History::Open(url_));
  EXPECT_EQ(*SchemaVersion(*connection), 0);
  EXPECT_FALSE(connection->Run("SELECT 1 FROM run", {}));
  EXPECT_TRUE(connection->Run("SELECT mine FROM metric", {}));
}

TEST_P(HistoryTest, ManyOpenAndWriteAtOnce) {
  constexpr int kWriters = 8, kEach = 25;
  std::vector<std::thread> writers;
  std::atomic<int> failures = 0;
  for (int w = 0; w < kWriters; ++w)
    writers.emplace_back([&, w] {
      auto history = History::Open(url_);  // all of them find no tables
      if (!history) {
        ++failures;
        ADD_FAILURE() << history.error().ToString();
        return;
      }
      for (int i = 0; i < kEach; ++i) {
        BenchmarkRecord r = Full();
        r.branch = StrCat("writer", w);
        if (!history->Record(r)) ++failures;
      }
    });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failures, 0);
  const auto records = Open().List({});
  ASSERT_EQ(records->size(), static_cast<size_t>(kWriters * kEach));
  for (const BenchmarkRecord& record : *records) EXPECT_EQ(record.metrics.size(), 3U);
}

TEST_P(HistoryTest, DeletingARunTakesItsRows) {
  History history = Open();
  ASSERT_TRUE(history.Record(Full()));
  const auto connection = Raw();
  ASSERT_TRUE(connection->Run("DELETE FROM run", {}));
  for (const char* table : {"metric", "sample", "verdict"})
    EXPECT_TRUE(connection->Run(StrCat("SELECT 1 FROM ", table), {})->empty()) << table;
}

INSTANTIATE_TEST_SUITE_P(Databases, HistoryTest, ::testing::Values("sqlite", "postgres"),
                         [](const auto& name) { return name.param; });

TEST(PostgresTest, ARecordSurvivesALostServer) {
  std::string why;
  if (Server(&why) == nullptr) GTEST_SKIP() << why;
  auto history = History::Open(Server()->NewDatabase());
  ASSERT_TRUE(history);
  ASSERT_TRUE(history->Record(Full()));
  ASSERT_TRUE(Server()->KillAndRestart());
  const auto recorded = history->Record(Full());
  ASSERT_TRUE(recorded) << recorded.error().ToString();
  EXPECT_EQ(history->List({})->size(), 2U);
}

TEST(PostgresTest, AServerThatIsNotThereIsSaidWithoutThePassword) {
  const auto history = History::Open("postgresql://me:secret@127.0.0.1:1/x");
  ASSERT_FALSE(history);
  EXPECT_EQ(history.error().code, ErrorCode::kEnvironment);
  EXPECT_EQ(history.error().ToString().find("secret"), std::string::npos) << history.error().ToString();
}

TEST(SqliteTest, AFileThatIsNoDatabaseIsRefused) {
  const std::string path = (std::filesystem::temp_directory_path() / StrCat("gapless-no-db-", ::getpid())).string();
  std::ofstream(path) << "this is text, long enough to be taken for a header of a database file, which it is not\n";
  const auto history = History::Open("sqlite:" + path);
  ASSERT_FALSE(history);
  EXPECT_EQ(history.error().code, ErrorCode::kInput);
  std::filesystem::remove(path);
}

TEST(HistoryUrlTest, KindsAndDefaults) {
  EXPECT_EQ(History::Open("mysql://x").error().code, ErrorCode::kUsage);
  EXPECT_EQ(WithoutPassword("postgresql://u:p@h:5/d?password=q&x=1"), "postgresql://u@h:5/d?password=…&x=1");
  EXPECT_EQ(WithoutPassword("postgresql://u@h/d"), "postgresql://u@h/d");
  EXPECT_EQ(WithoutPassword("sqlite:a:b@c"), "sqlite:a:b@c");
  ::setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(History::DefaultUrl(), "sqlite:/data/gapless/history.db");
  ::unsetenv("XDG_DATA_HOME");
  ::setenv("HOME", "/home/u", 1);
  EXPECT_EQ(History::DefaultUrl(), "sqlite:/home/u/.local/share/gapless/history.db");
}

TEST(SamplesTest, ArePackedLittleEndian) {
  const std::vector<double> samples = {1.0, -2.5};
  EXPECT_EQ(PackSamples(samples), std::string("\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\x04\xc0", 16));
  EXPECT_EQ(UnpackSamples(PackSamples(samples)), samples);
  EXPECT_TRUE(UnpackSamples("abc").empty());
}

}  // namespace
}  // namespace gapless::internal
