// SPDX-License-Identifier: Apache-2.0
// The content of a Chrome trace besides the recorded rows; the recorded rows are compared by reading back
// (tests/convert_round_trip*).
#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "base/strings.h"
#include "convert/json_check.h"
#include "convert/testing/in_memory.h"
#include "convert/writer.h"

namespace gapless::internal {
namespace {

using testing::HandMade;
using testing::InMemory;

HandMade& MakeTwoSteps(HandMade& trace) {
  trace.Step(0, 0, 1'000).Step(1, 1'000, 2'000);
  for (const int64_t at : {0, 1'000})
    trace.Loader(at, at + 400)
        .Kernel("volta_sgemm", {.call_start = at + 410, .call_end = at + 420, .start = at + 430, .end = at + 1'000});
  return trace;
}

std::shared_ptr<const Trace> TwoSteps() {
  HandMade trace;
  return MakeTwoSteps(trace).Finish();
}

class ChromeTest : public ::testing::Test {
 protected:
  // The lines of the document that hold all of `parts`.
  static std::vector<std::string> Lines(const std::string& document, std::vector<std::string_view> parts) {
    std::vector<std::string> found;
    for (const std::string_view line : Split(document, '\n'))
      if (std::ranges::all_of(parts, [&](std::string_view part) { return line.find(part) != line.npos; }))
        found.emplace_back(line);
    return found;
  }
  static Written Write(const internal::Run& run, Destination& destination, WriteInput changes) {
    Tables tables(run);
    const Advice advice(tables);
    changes.traces = run.primary();
    changes.tables = &tables;
    changes.advice = changes.parts.annotations ? &advice : nullptr;
    const auto written = FindWriter("chrome")->write(changes, destination);
    EXPECT_TRUE(written);
    return written ? *written : Written{};
  }
  static std::string Convert(std::shared_ptr<const Trace> trace, WriteParts parts = {}) {
    const internal::Run run({std::move(trace)});
    InMemory destination;
    const Written written = Write(run, destination, {.run = run, .parts = parts});
    EXPECT_EQ(written.bytes, static_cast<int64_t>(destination.text().size()));
    EXPECT_TRUE(JsonCheck().IsValue(destination.text()));
    return destination.text();
  }
};

TEST_F(ChromeTest, StepsCarryTheirLedger) {
  const std::string document = Convert(TwoSteps());
  const auto steps = Lines(document, {"\"cat\":\"gapless\"", "\"name\":\"step "});
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_NE(steps[1].find("\"name\":\"step 1\""), std::string::npos);
  EXPECT_NE(steps[1].find("\"ts\":1.000,\"dur\":1.000"), std::string::npos);
  EXPECT_NE(steps[1].find("\"wall_ns\":1000,\"compute_ns\":570"), std::string::npos);
}

TEST_F(ChromeTest, IdleGapsSayWhy) {
  const auto gaps = Lines(Convert(TwoSteps()), {"\"cat\":\"gapless\"", "\"cname\":"});
  ASSERT_EQ(gaps.size(), 2U);
  EXPECT_NE(gaps[1].find("\"name\":\"data\""), std::string::npos);
  EXPECT_NE(gaps[1].find("\"ts\":1.000,\"dur\":0.430"), std::string::npos);
  EXPECT_NE(gaps[1].find("\"data_ns\":400,\"launch_ns\":"), std::string::npos);
}

TEST_F(ChromeTest, ABottleneckIsAThreadWithItsEvidenceBelow) {
  const auto found = Lines(Convert(TwoSteps()), {"\"rule\":\"data_loading\""});
  ASSERT_GE(found.size(), 2U);
  EXPECT_NE(found[0].find("\"gain\":"), std::string::npos);
  EXPECT_NE(found[0].find("\"do 1\":"), std::string::npos);
  EXPECT_NE(found[1].find("\"table\":\"idle\",\"row\":0"), std::string::npos);
  EXPECT_NE(found[1].find("\"ts\":0.000,\"dur\":0.430"), std::string::npos);
}

TEST_F(ChromeTest, ArrowsPointFromProcessToProcess) {
  HandMade trace;
  MakeTwoSteps(trace);
  auto& shard = trace.shard();
  shard.Add(FlowEndRow{.kind = FlowKind::kLaunch, .start = true, .id = 9, .tid = 1, .ts_ns = 410});
  shard.Add(FlowEndRow{.kind = FlowKind::kLaunch, .start = false, .id = 9, .tid = 0, .ts_ns = 430});
  const std::string document = Convert(trace.Finish());
  EXPECT_EQ(Lines(document, {"\"ph\":\"s\",\"cat\":\"ac2g\"", "\"id\":1", "\"pid\":1,\"tid\":1,\"ts\":0.410"}).size(),
            1U);
  EXPECT_EQ(
      Lines(document, {"\"ph\":\"f\",\"cat\":\"ac2g\"", "\"id\":1,\"bp\":\"e\"", "\"pid\":0,\"tid\":0,\"ts\":0.430"})
          .size(),
      1U);
}

TEST_F(ChromeTest, PartsCanBeLeftOut) {
  const std::string bare = Convert(TwoSteps(), {.annotations = false, .flows = false});
  EXPECT_TRUE(Lines(bare, {"\"cat\":\"gapless\""}).empty());
  EXPECT_EQ(Lines(bare, {"\"cat\":\"kernel\""}).size(), 2U);
  HandMade with_python;
  with_python.Python("train.py(3): f", 0, 100, "train.py:3").Operator("aten::mm", 10, 20);
  EXPECT_TRUE(Lines(Convert(with_python.Finish(), {.python = false}), {"python_function"}).empty());
}

TEST_F(ChromeTest, OnlyWhatBeginsInTheWindowsIsWritten) {
  const internal::Run run({TwoSteps()});
  InMemory destination;
  Write(run, destination, {.run = run, .windows = std::vector<WriteWindows>{{{1'000, 2'000}}}});
  const std::string& document = destination.text();
  EXPECT_EQ(Lines(document, {"\"name\":\"volta_sgemm\""}).size(), 1U);
  EXPECT_EQ(Lines(document, {"\"name\":\"step 1\""}).size(), 1U);
  EXPECT_TRUE(Lines(document, {"\"name\":\"step 0\""}).empty());
  EXPECT_TRUE(Lines(document, {"\"name\":\"ProfilerStep#0\""}).empty());
  EXPECT_EQ(Lines(document, {"\"content\": \"some steps\""}).size(), 1U);
}

std::vector<std::shared_ptr<const Trace>> TwoRanks() {
  std::vector<std::shared_ptr<const Trace>> ranks;
  for (const int64_t rank : {0, 1}) {
    TraceBuilder builder;
    builder.info().rank = rank;
    builder.info().path = "run/rank.json.gz";
    auto& shard = builder.NewShard();
    shard.Add(SliceRow{.name = shard.Text("aten::mm"), .pid = 1, .tid = 1, .ts_ns = 0, .dur_ns = 100});
    shard.Add(GpuOpRow{.name = shard.Text("k"), .ts_ns = 30, .dur_ns = 60});
    ranks.push_back(std::make_shared<const Trace>(std::move(builder).Finish()));
  }
  return ranks;
}

TEST_F(ChromeTest, AFolderGetsAFileForEachRank) {
  const internal::Run run(TwoRanks());
  InMemory folder(true);
  Write(run, folder, {.run = run});
  ASSERT_EQ(folder.files.size(), 2U);
  EXPECT_EQ(Lines(folder.files["rank.json.gz"], {"\"distributedInfo\": {"}).size(), 1U);
  EXPECT_NE(folder.files["rank.json.gz"].find("\"rank\": 0"), std::string::npos);
  EXPECT_NE(folder.files["rank-2.json.gz"].find("\"rank\": 1"), std::string::npos);
}

TEST_F(ChromeTest, RanksInOneFileAreNamedAndMarked) {
  const internal::Run run(TwoRanks());
  InMemory file;
  Write(run, file, {.run = run});
  EXPECT_NE(file.text().find("\"gaplessRanks\": 2"), std::string::npos);
  EXPECT_EQ(Lines(file.text(), {"process_name", "GPU 0 (rank 0)"}).size(), 1U);
  EXPECT_EQ(Lines(file.text(), {"process_name", "GPU 0 (rank 1)"}).size(), 1U);
  EXPECT_EQ(Lines(file.text(), {"process_name", "gapless (rank 1)"}).size(), 1U);
}

TEST_F(ChromeTest, AFileThatWasCutOffDoesNotLookWhole) {
  TraceBuilder builder;
  builder.Count("truncated_input", Severity::kError, 1, 99, "the file ends in the middle");
  builder.Count("instants", Severity::kInfo, 5, 99, "not part of the tables");
  const std::string document = Convert(std::make_shared<const Trace>(std::move(builder).Finish()));
  EXPECT_NE(document.find("\"truncated_input\": 1"), std::string::npos);
  EXPECT_EQ(document.find("instants"), std::string::npos);
}

TEST_F(ChromeTest, ItStopsWhenAskedTo) {
  const internal::Run run({TwoSteps()});
  const std::atomic<bool> cancel{true};
  InMemory destination;
  const WriteInput input{.run = run, .traces = run.primary(), .parts = {.annotations = false}, .cancel = &cancel};
  const auto written = FindWriter("chrome")->write(input, destination);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace gapless::internal
