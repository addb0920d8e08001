// SPDX-License-Identifier: Apache-2.0
// Checks every analysis for the properties that all must have.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// Adds costly habits of programs on their own thread and stream, within 400 ns from t.
void Patterns(HandMade& trace, int64_t t) {
  constexpr int64_t kThread = 3;
  int64_t at = t;
  const auto add = [&](std::string_view op, std::string_view kernel, GpuOpClass op_class) {
    trace.Operator(op, at, at + 9, kThread);
    trace.Kernel(kernel, {at + 1, at + 5, at + 6, at + 14}, {.op_class = op_class, .stream = 8}, kThread);
    at += 10;
  };
  add("aten::bmm", "gemm", GpuOpClass::kGemm);
  add("aten::_softmax", "softmax", GpuOpClass::kReduce);
  add("aten::bmm", "gemm", GpuOpClass::kGemm);
  add("aten::mul", "elementwise", GpuOpClass::kPointwise);
  add("aten::add", "elementwise", GpuOpClass::kPointwise);
  add("aten::cudnn_convolution", "nchwToNhwcKernel", GpuOpClass::kCopy);
  trace.Annotation("DistributedDataParallel.forward", at - 5, at - 1, kThread);
  trace.Annotation("Optimizer.step#SGD.step", at, at + 10, kThread);
  add("aten::add_", "elementwise", GpuOpClass::kPointwise);
  for (int i = 0; i < 16; ++i) add("aten::exp", "elementwise", GpuOpClass::kPointwise);
}

// A trace that has something for every analysis.
std::shared_ptr<const Trace> Everything(int64_t rank) {
  HandMade trace;
  trace.Rank(rank).Device(
      {.device = 0, .vendor = Vendor::kNvidia, .name = "Tesla V100", .compute_major = 7, .compute_minor = 0});
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t t = step * 1000;
    trace.Step(step, t, t + 1000)
        .Loader(t, t + 200)
        .Python("torchvision/transforms/transforms.py(968): forward", t + 20, t + 180, "train.py:7")
        .Operator("aten::mm", t + 250, t + 400, testing::kMain, R"(["float", "float"])");
    trace.Copy(CopyKind::kHtoDPageable, {t + 200, t + 210, t + 215, t + 240}, {.bytes = 1000});
    trace.Kernel("sgemm", {t + 260, t + 270, t + 280, t + 600},
                 {.op_class = GpuOpClass::kGemm, .matrix_unit = MatrixUnit::kNo});
    trace.Kernel("nccl", {t + 500, t + 510, t + 550, t + 700}, {.op_class = GpuOpClass::kCommunication, .stream = 20});
    trace.Collective("all_reduce", t + 550, t + 700, 4096);
    trace.Operator("aten::item", t + 710, t + 900)
        .Call("cudaStreamSynchronize", ApiKind::kStreamSync, t + 720, t + 890, testing::kMain, "train.py:9");
    Patterns(trace, t + 300);
    trace.Python("Python GC", t + 905, t + 950, "train.py:12");
    trace.shard().Add(MemoryEventRow{
        .device = 0, .device_type = 1, .pid = rank + 1, .tid = testing::kMain, .ts_ns = t + 255, .bytes = 512});
  }
  return trace.Finish();
}

// Adds a server's iterations, the first of which compiles; a run of training steps has none.
std::shared_ptr<const Trace> Serving(int64_t rank) {
  constexpr int64_t kMs = 1'000'000;
  HandMade trace;
  trace.Rank(rank);
  const auto iteration = [&](int64_t number, int64_t start, int64_t end) {
    constexpr std::string_view kName = "execute_context_0(0)_generation_4(4)";
    trace.shard().Add(StepRow{
        .number = number, .name = trace.shard().Text(kName), .ts_ns = start, .dur_ns = end - start, .complete = true});
    trace.Kernel("gemm", {end - kMs, end - kMs + 10, end - kMs + 20, end - 10});
  };
  iteration(0, 0, 100 * kMs);
  trace.Annotation("compile (dynamo_timed)", 0, 95 * kMs);
  for (int64_t number = 1; number < 4; ++number) iteration(number, (90 + 10 * number) * kMs, (100 + 10 * number) * kMs);
  trace.Annotation("compile (dynamo_timed)", 112 * kMs, 117 * kMs);
  return trace.Finish();
}

std::string AsText(const Table& table) {
  std::string text;
  for (size_t row = 0; row < table.rows(); ++row)
    for (int column = 0; column < static_cast<int>(table.columns().size()); ++column) {
      text += table.IsNull(row, column)
                  ? "-"
                  : std::string(table.Text(row, column)) + std::to_string(table.Real(row, column));
      text += column + 1 == static_cast<int>(table.columns().size()) ? '\n' : '|';
    }
  return text;
}

TEST(EveryAnalysis, HasANameALineOfHelpAndDescribedColumns) {
  ASSERT_FALSE(AllAnalyses().empty());
  for (const Analysis* analysis : AllAnalyses()) {
    SCOPED_TRACE(std::string(analysis->name));
    EXPECT_FALSE(analysis->help.empty());
    EXPECT_LE(analysis->help.size(), 100u);
    EXPECT_EQ(analysis->help.find('\n'), std::string_view::npos);
    ASSERT_GE(analysis->columns.size(), 3u);
    EXPECT_EQ(analysis->columns[0].name, "trace");
    EXPECT_EQ(analysis->columns[1].name, "rank");
    std::set<std::string_view> names;
    for (const ColumnSpec& column : analysis->columns) {
      EXPECT_TRUE(names.insert(column.name).second) << column.name << " occurs twice";
      EXPECT_FALSE(column.help.empty()) << column.name;
      const bool time = column.name.ends_with("_ns"), share = column.name.ends_with("share");
      EXPECT_EQ(column.unit == "ns", time) << column.name;
      EXPECT_EQ(column.unit == "share", share) << column.name;
    }
  }
}

TEST(EveryAnalysis, IsSortedByName) {
  for (size_t i = 1; i < AllAnalyses().size(); ++i) EXPECT_LT(AllAnalyses()[i - 1]->name, AllAnalyses()[i]->name);
}

// True if a file has tests: that of an analysis of other kinds of runs (without device work, of the agent, telemetry,
// profiles), for which neither run below has an event.
bool HasTests(const std::string& file) {
  const auto& all = *::testing::UnitTest::GetInstance();
  for (int suite = 0; suite < all.total_test_suite_count(); ++suite)
    if (std::string_view(all.GetTestSuite(suite)->GetTestInfo(0)->file()).ends_with(file)) return true;
  return false;
}

void ExpectSharesWithinOne(const Table& table) {
  for (size_t row = 0; row < table.rows(); ++row)
    for (int column = 0; column < static_cast<int>(table.columns().size()); ++column) {
      const ColumnSpec& spec = table.columns()[static_cast<size_t>(column)];
      if (spec.unit != "share" || table.IsNull(row, column)) continue;
      EXPECT_GE(table.Real(row, column), 0) << spec.name;
      EXPECT_LE(table.Real(row, column), 1) << spec.name;
    }
}

TEST(EveryAnalysis, GivesItsColumnsAndRowsForARunThatHasAll) {
  Analysed training(std::vector{Everything(0), Everything(1)}), serving(std::vector{Serving(0), Serving(1)});
  for (const Analysis* analysis : AllAnalyses()) {
    SCOPED_TRACE(std::string(analysis->name));
    const Table& table = training[analysis->name].rows() >= 2 ? training[analysis->name] : serving[analysis->name];
    EXPECT_EQ(training.tables().ErrorOf(analysis->name), nullptr);
    EXPECT_EQ(serving.tables().ErrorOf(analysis->name), nullptr);
    EXPECT_EQ(table.name(), analysis->name);
    ASSERT_EQ(table.columns().size(), analysis->columns.size());
    for (size_t i = 0; i < table.columns().size(); ++i) EXPECT_EQ(table.columns()[i].name, analysis->columns[i].name);
    if (table.rows() < 2) {
      EXPECT_TRUE(HasTests("/list/" + std::string(analysis->name) + "_test.cc"))
          << "Everything() above needs an event that it counts, or it a test of its own";
      continue;
    }
    if (!analysis->compares_ranks) {  // the others have an order of their own
      EXPECT_EQ(table.Int(0, table.Find("rank")), 0);
      EXPECT_EQ(table.Int(table.rows() - 1, table.Find("rank")), 1);
    }
    ExpectSharesWithinOne(table);
  }
}

TEST(EveryAnalysis, GivesTheSameTableTwice) {
  Analysed first(std::vector{Everything(0), Everything(1)}), second(std::vector{Everything(1), Everything(0)});
  for (const Analysis* analysis : AllAnalyses())
    EXPECT_EQ(AsText(first[analysis->name]), AsText(second[analysis->name])) << analysis->name;
}

TEST(EveryAnalysis, SurvivesAnEmptyRunAndAnEmptyTrace) {
  Analysed no_trace{std::vector<std::shared_ptr<const Trace>>{}};
  HandMade nothing;
  Analysed no_rows(nothing);
  for (const Analysis* analysis : AllAnalyses()) {
    EXPECT_EQ(no_trace[analysis->name].rows(), 0u) << analysis->name;
    EXPECT_EQ(no_rows[analysis->name].rows(), 0u) << analysis->name;
  }
}

TEST(Tables, AnAnalysisRunsOnce) {
  HandMade trace;
  trace.Kernel("a", {0, 1, 2, 3});
  Analysed run(trace);
  EXPECT_EQ(&run.tables().Get("kernels"), &run.tables().Get("kernels"));
}

}  // namespace
}  // namespace gapless::internal
