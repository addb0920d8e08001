// SPDX-License-Identifier: Apache-2.0
// Tests that an exported history can be imported once, with every value, and that broken lines are reported.
#include "store/transfer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "base/strings.h"
#include "store/benchmarks_csv.h"
#include "store/record_lines.h"

namespace gapless::internal {
namespace {

class TransferTest : public ::testing::Test {
 protected:
  TransferTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gapless-transfer-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~TransferTest() override { std::filesystem::remove_all(folder_); }
  History Open(const std::string& name) { return History::Open(StrCat("sqlite:", folder_, "/", name)).value(); }

  std::string folder_;
};

BenchmarkRecord Sample() {
  BenchmarkRecord r;
  r.uid = "u1";
  r.recorded_unix_ns = 1'700'000'000'123'456'789;
  r.commit_sha = "abc";
  r.branch = "a,b \"c\"\r\nx";
  r.dirty = true;
  r.author_unix_ns = 5;
  r.benchmark = "bench";
  r.command = "cmd \x01";
  r.host = "h";
  r.fingerprint = "f";
  r.gpu_type = "GPU";
  r.num_gpus = 2;
  r.batch_size = 3;
  r.framework = "fw";
  r.driver = "d";
  r.environment = "{\"a\": 1.0}";
  r.source = "s";
  r.metrics = {{"step_time_ms", 0.1, "ms", false, Sampling::kIteration, {0.1, 1e300, 123456789012345678901.0, -0.0}},
               {"x", 123456789012345678901.0, "", std::nullopt, Sampling::kUnknown, {}}};
  r.verdicts = {{7, "x", "pending", "{}"}};
  return r;
}

TEST_F(TransferTest, ALineHoldsEverything) {
  const auto read = RecordFromLine(LineOf(Sample()));
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(*read, Sample());
  BenchmarkRecord empty;
  empty.uid = "e";
  EXPECT_EQ(*RecordFromLine(LineOf(empty)), empty);
}

TEST_F(TransferTest, ATestedPredictionIsALineOfItsOwn) {
  const AdviceRecord advice{.uid = "a1",
                            .recorded_unix_ns = 1'700'000'000'123'456'789,
                            .what = "amp,workers=8",
                            .kind = "amp,workers",
                            .recording = "before/",
                            .measured = 0.1 + 0.2,
                            .low = 0.25,
                            .expected = 0.31,
                            .high = 0.4,
                            .source = "predict --measured"};
  const std::string line = LineOf(advice);
  EXPECT_EQ(*AdviceFromLine(line), advice);
  History history = Open("h.db");
  const auto first = ImportInto(history, LineOf(Sample()) + "\n" + line + "\n", "x");
  ASSERT_TRUE(first) << first.error().ToString();
  EXPECT_EQ(first->added, 1);
  EXPECT_EQ(first->advice, 1);
  EXPECT_EQ(ImportInto(history, line, "x")->present, 1);
  EXPECT_EQ(*history.ListAdvice(), std::vector{advice});
  EXPECT_FALSE(ImportInto(history, R"({"gapless_advice":1,"uid":"b","what":"amp","kind":"amp"})", "x"))
      << "without shares nothing was tested";
  EXPECT_FALSE(ImportInto(history, R"({"gapless_advice":2,"uid":"b"})", "x")) << "of a newer gapless";
}

TEST_F(TransferTest, AnExportedHistoryIsBroughtInOnce) {
  History from = Open("a"), to = Open("b");
  for (int i = 0; i < 3; ++i) {
    BenchmarkRecord r = Sample();
    r.uid = StrCat("u", i);
    ASSERT_TRUE(from.Record(r));
  }
  std::string text;
  const auto records = from.List({});
  for (const BenchmarkRecord& record : *records) text += LineOf(record) + "\n";
  for (const int64_t added : {3, 0}) {
    const auto imported = ImportInto(to, text, "f");
    ASSERT_TRUE(imported) << imported.error().ToString();
    EXPECT_EQ(imported->added, added);
    EXPECT_EQ(imported->present, 3 - added);
  }
  EXPECT_EQ(*to.List({}), *records);
}

TEST_F(TransferTest, ALineThatIsNoneIsNamedAndWhatCameBeforeIsIn) {
  History history = Open("a");
  const auto imported = ImportInto(history, LineOf(Sample()) + "\n{\"x\": 1}\n", "f");
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().place, "f:line 2");
  EXPECT_EQ(history.List({})->size(), 1U);
  EXPECT_FALSE(ImportInto(history, "{\"gapless_history\": 99}", "f"));
  EXPECT_FALSE(ImportInto(history, "some text\n", "f"));
}

TEST_F(TransferTest, CsvOfTheViewIsBroughtInOnceAndAbsentStaysAbsent) {
  const std::string csv = BenchmarksCsvHeader() +
                          "1,2023-11-14T22:13:20.5Z,abc,main,812.5,,10.25,78.5,H100,8,64\r\n"
                          "2,2023-11-15 00:00:00+00,,,,,,,,,\r\n"
                          "3,2023-11-15 00:00:00+00,,,,,,,,,\r\n";  // two equal runs are two
  History history = Open("a");
  for (const int64_t added : {3, 0}) {
    const auto imported = ImportInto(history, csv, "f");
    ASSERT_TRUE(imported) << imported.error().ToString();
    EXPECT_EQ(imported->added, added);
  }
  const auto records = history.List({});
  ASSERT_EQ(records->size(), 3U);
  EXPECT_EQ(records->front().Find("samples_per_second")->value, 812.5);
  EXPECT_EQ(records->front().Find("gpu_utilization"), nullptr);
  EXPECT_EQ(records->front().num_gpus, 8);
  EXPECT_TRUE(records->back().metrics.empty());
}

TEST_F(TransferTest, OwnCsvAddsNothing) {
  History history = Open("a");
  ASSERT_TRUE(history.Record(Sample()));
  std::string csv = BenchmarksCsvHeader();
  const auto records = history.List({});
  for (const BenchmarkRecord& record : *records) csv += BenchmarksCsvRow(record);
  const auto imported = ImportInto(history, csv, "f");
  ASSERT_TRUE(imported) << imported.error().ToString();
  EXPECT_EQ(imported->added, 0);
  EXPECT_EQ(imported->present, 1);
}

TEST_F(TransferTest, CsvThatMakesNoSenseIsRefused) {
  History history = Open("a");
  for (const char* row : {"1,yesterday,,,,,,,,,", "1,2023-11-14,,,fast,,,,,,", "1,2023-11-14,,,nan,,,,,,",
                          "1,2023-11-14,,,,,,,,1.5,", "1,2023-11-14", "1,,,,,,,,,,", "1,2023-11-14,,,,,,,,1e300,"}) {
    const auto imported = ImportInto(history, StrCat(BenchmarksCsvHeader(), row, "\r\n"), "f");
    ASSERT_FALSE(imported) << row;
    EXPECT_EQ(imported.error().code, ErrorCode::kInput) << row;
  }
  EXPECT_TRUE(history.List({})->empty());
}

// Gives the text byte by byte from `text`, and nothing but spaces before it.
TextSource AfterSpaces(size_t spaces, std::string text) {
  return [spaces, text = std::move(text), at = size_t{0}](char* out, size_t size) mutable -> Result<size_t> {
    if (spaces > 0) {
      const size_t taken = std::min(size, spaces);
      std::fill_n(out, taken, ' ');
      spaces -= taken;
      return taken;
    }
    if (at == text.size()) return size_t{0};
    *out = text[at++];
    return size_t{1};
  };
}

TEST_F(TransferTest, ATextComesInPieces) {
  History history = Open("a");
  const std::string line = LineOf(Sample()) + "\r\n";
  const auto lines = ImportFrom(history, AfterSpaces(3'000'000, line), "f", nullptr);
  ASSERT_TRUE(lines) << lines.error().ToString();
  EXPECT_EQ(lines->added, 1);
  const std::string csv = "commit_sha,timestamp\r\n\"a\r\nb\",2023-11-14\r\nc,2023-11-15";
  const auto rows = ImportFrom(history, AfterSpaces(0, csv), "f", nullptr);
  ASSERT_TRUE(rows) << rows.error().ToString();
  EXPECT_EQ(rows->added, 2);
  EXPECT_EQ(history.List({.commit_sha = "a\r\nb"})->size(), 1U);
}

TEST_F(TransferTest, ARowWithoutEndIsRefused) {
  History history = Open("a");
  size_t given = 0;
  const auto endless = [&](char* out, size_t size) -> Result<size_t> {
    std::fill_n(out, size, given == 0 ? '{' : 'x');
    given += size;
    return size;
  };
  const auto imported = ImportFrom(history, endless, "f", nullptr);
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().code, ErrorCode::kInput);
  EXPECT_EQ(imported.error().place, "f:line 1");
  EXPECT_LE(given, 3 * kLongestRow);
}

TEST_F(TransferTest, AnImportEndsWhenItIsCancelled) {
  History history = Open("a");
  std::atomic<bool> cancel = false;
  int lines = 0;
  std::string rest;
  const auto endless = [&](char* out, size_t size) -> Result<size_t> {
    if (rest.empty()) {
      BenchmarkRecord record = Sample();
      record.uid = StrCat("u", lines);
      rest = LineOf(record) + "\n";
      if (++lines == 5000) cancel = true;
    }
    const size_t taken = rest.copy(out, size);
    rest.erase(0, taken);
    return taken;
  };
  const auto imported = ImportFrom(history, endless, "f", &cancel);
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().code, ErrorCode::kInterrupted);
  EXPECT_GT(history.List({})->size(), 0U) << "what was stored stays";
}

}  // namespace
}  // namespace gapless::internal
